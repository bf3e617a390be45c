// Stored runs, fed again as they came by their own clock: to remember after a restart, and to try a rule on the past.

import { stepSpan, waitSpans } from "#judge/names.ts";
import type { RunTrack } from "#judge/track.ts";
import { readCheckpoints, streamTrackPoints, streamTrackSpans } from "#store/reader/track.ts";
import type { Store } from "#store/store.ts";

interface Replayed {
  /** The sender's time, which also stands for when it came. */
  readonly tsNs: bigint;
  /** Whose it is. */
  readonly group: string;
  give(track: RunTrack): void;
}

export interface ReplayRange {
  readonly groups: readonly string[];
  /** A regular expression. */
  readonly keys: string;
  /** Of each series of a group, only its last points; null for all. */
  readonly last: number | null;
}

/** A run of more points is tried on the first of them; the last ones of some runs are fewer. */
const pointsMax = 1_000_000;

/** In order of time, of the groups of one run or of several. The caller gives each to a memory of its run. */
export async function* replayRun(store: Store, range: ReplayRange): AsyncGenerator<Replayed> {
  const limited = { ...range, limit: pointsMax };
  const sources = [replayPoints(store, limited), replaySpans(store, limited), replayCheckpoints(store, range.groups)];
  yield* merge(sources);
}

async function* replayPoints(store: Store, range: ReplayRange & { readonly limit: number }): AsyncGenerator<Replayed> {
  for await (const { group_key: group, ts_ns, ...point } of streamTrackPoints(store, range)) {
    const tsNs: bigint = ts_ns;
    yield { tsNs, group, give: (track) => track.addPoint({ ...point, tsNs }, tsNs) };
  }
}

async function* replaySpans(store: Store, range: ReplayRange & { readonly limit: number }): AsyncGenerator<Replayed> {
  for await (const row of streamTrackSpans(store, range, { step: stepSpan, waits: `(?i)${waitSpans}` })) {
    const { group_key: group, worker, name, index: step } = row;
    const tsNs: bigint = row.end_ns;
    const tookNs = Number(tsNs - row.start_ns);
    yield {
      tsNs,
      group,
      give(track) {
        if (name !== stepSpan) track.addWait(worker, tookNs);
        else if (step !== null) track.addStep({ worker, step, tsNs, tookNs }, tsNs);
      },
    };
  }
}

async function* replayCheckpoints(store: Store, groups: readonly string[]): AsyncGenerator<Replayed> {
  for (const { group_key: group, ts_ns: tsNs } of await readCheckpoints(store, groups))
    yield { tsNs, group, give: (track) => track.addCheckpoint(tsNs) };
}

async function* merge(sources: readonly AsyncGenerator<Replayed>[]): AsyncGenerator<Replayed> {
  try {
    const heads = await Promise.all(sources.map((source) => source.next()));
    for (;;) {
      let first = -1;
      for (const [at, head] of heads.entries()) {
        if (head.done === true) continue;
        const best = first < 0 ? undefined : (heads[first] as IteratorResult<Replayed>).value;
        if (best === undefined || head.value.tsNs < best.tsNs) first = at;
      }
      if (first < 0) return;
      yield (heads[first] as IteratorYieldResult<Replayed>).value;
      heads[first] = await (sources[first] as AsyncGenerator<Replayed>).next();
    }
  } finally {
    // Answers that nobody reads to their end would keep their connections to the engine.
    await Promise.all(sources.map((source) => source.return(undefined)));
  }
}
