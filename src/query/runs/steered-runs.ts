// Which runs a command is for: workers know the run that they named, which may be part of another one by now.

import { hasTrait } from "#protocol/facts.ts";
import { type FoundRun, ownRunsOf } from "./find-run.ts";

/**
 * Of joined runs, each one with a worker that takes commands now. If there is none, the command waits for the workers of
 * those runs that have had any. `acceptingIn` gives the workers of a run that take commands now; `worker` is the only one
 * the command is for.
 */
export function steeredRuns(
  found: Pick<FoundRun, "runId" | "groups">,
  acceptingIn: (run: string) => readonly string[],
  worker?: string,
): string[] {
  const runs = ownRunsOf(found);
  const taking = runs.filter((run) => {
    const accepting = acceptingIn(run);
    return worker === undefined ? accepting.length > 0 : accepting.includes(worker);
  });
  if (taking.length > 0) return taking;
  const withWorkers = new Set(
    found.groups.filter(({ protocol }) => hasTrait(protocol, "workers")).map((group) => group.ownRun),
  );
  const waiting = runs.filter((run) => withWorkers.has(run));
  return waiting.length > 0 ? waiting : runs.slice(0, 1);
}
