// What came of a run within a range of a collector's journal records: its points and log lines, in pages.

import { hasTrait } from "#protocol/facts.ts";
import { type Arrived, type ArrivedPoint, readArrivedPoints } from "#store/reader/arrived-points.ts";
import { readLogs } from "#store/reader/records.ts";
import type { FoundRun } from "./runs/find-run.ts";
import { groupKeysOf } from "./runs/find-run.ts";
import type { Sources } from "./sources.ts";

export type { Arrived };

const pageRows = 10_000;

/** In the order in which they came. */
export async function* listArrivedPoints(
  { store }: Sources,
  run: FoundRun,
  arrived: Arrived,
): AsyncGenerator<ArrivedPoint[]> {
  const ranks = new Map(
    run.groups.flatMap(({ groupKey, protocol, rank }) =>
      hasTrait(protocol, "sessions") ? [[groupKey, String(rank)] as const] : [],
    ),
  );
  let { after } = arrived;
  for (;;) {
    const points = await readArrivedPoints(store, groupKeysOf(run), { ...arrived, after }, pageRows);
    const last = points.at(-1);
    if (last === undefined) return;
    yield points.map((point) => ({ ...point, of_worker: ranks.get(point.of_group) ?? point.of_worker }));
    after = Number(last.at_jpos);
  }
}

/** In the order of their times. */
export async function* listArrivedLogs({ store }: Sources, run: FoundRun, arrived: Arrived) {
  const all = {
    levels: [],
    text: "",
    workers: [],
    stream: "",
    descending: false,
    chars: null,
    fromNs: null,
    toNs: null,
  };
  const limit = pageRows / 10;
  let after: readonly string[] | null = null;
  for (;;) {
    const lines: Awaited<ReturnType<typeof readLogs>> = await readLogs(store, {
      ...{ ...all, groups: groupKeysOf(run), arrived, limit, after },
    });
    const last = lines.at(-1);
    if (last === undefined) return;
    yield lines;
    if (lines.length < limit) return;
    after = [last.ts_ns, last.collector, last.jpos, String(last.jrow)];
  }
}
