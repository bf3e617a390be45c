// What a subscriber was not told, because it was away for long or too slow: read from the store.

import type { ApiContext } from "#api/context.ts";
import type { LiveEvent } from "#api/contract/live.ts";
import type { LiveMessage } from "#live/hub.ts";
import { parsePositions } from "#model/positions.ts";
import { type Arrived, listArrivedLogs, listArrivedPoints } from "#query/arrived-rows.ts";
import { findRun } from "#query/runs/find-run.ts";

/** Null for what another collector skipped: nobody here knows when the store has all of it. */
export function toArrived(asOf: string, { from, to }: LiveEvent<"skipped">["data"]): Arrived | null {
  const [own] = parsePositions(asOf).keys();
  const [before, until] = [parsePositions(from), parsePositions(to)];
  if (own === undefined || before.size !== 1 || until.size !== 1) return null;
  const [after, last] = [before.get(own), until.get(own)];
  return after === undefined || last === undefined ? null : { collector: own, after, last };
}

/** The rows of the runs, and in the end `changed` with the id up to which all is told. */
export async function* tellMissed(
  { sources }: ApiContext,
  workspace: string,
  runs: readonly string[],
  arrived: Arrived,
  upTo: string,
): AsyncGenerator<LiveMessage> {
  await sources.caughtUp();
  for (const id of runs) {
    const run = await findRun(sources, workspace, id);
    const rows = { metrics: 0, logs: 0 };
    if (run !== null)
      for await (const points of listArrivedPoints(sources, run, arrived)) {
        rows.metrics += points.length;
        const data: LiveEvent<"metrics">["data"] = {
          run: id,
          key: points.map((point) => point.of_key),
          phase: points.map((point) => point.of_phase),
          worker: points.map((point) => point.of_worker),
          step: points.map((point) => point.at_step),
          epoch: points.map((point) => point.at_epoch),
          ts_ns: points.map((point) => point.at_ns),
          value: points.map((point) => point.v),
        };
        yield { id: "", name: "metrics", data };
      }
    if (run !== null)
      for await (const lines of listArrivedLogs(sources, run, arrived)) {
        rows.logs += lines.length;
        const logs = lines.map(({ collector: _, jpos: __, jrow: ___, cut_from, ...line }) =>
          cut_from === 0 ? line : { ...line, cut_from },
        );
        yield { id: "", name: "logs", data: { run: id, logs } };
      }
    yield { id: id === runs.at(-1) ? upTo : "", name: "changed", data: { run: id, rows } };
  }
}
