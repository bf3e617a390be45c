// What people joined to a run.

import type { Sources } from "#query/sources.ts";
import { readJoins } from "#store/reader/joins.ts";

export function readJoined({ store }: Sources, workspace: string, runId: string) {
  return readJoins(store, { workspace, runs: [runId] });
}
