// Which workers are connected now: a run without an end is running while one of them is.

import type { RunId, WorkerId, Workspace } from "#model/names.ts";

export class PresenceBook {
  private readonly runs = new Map<string, Map<string, number>>();

  enter(workspace: Workspace, runId: RunId, wid: WorkerId): void {
    const key = `${workspace}\0${runId}`;
    const workers = this.runs.get(key) ?? new Map<string, number>();
    this.runs.set(key, workers);
    workers.set(wid, (workers.get(wid) ?? 0) + 1);
  }

  leave(workspace: Workspace, runId: RunId, wid: WorkerId): void {
    const key = `${workspace}\0${runId}`;
    const workers = this.runs.get(key);
    const left = (workers?.get(wid) ?? 0) - 1;
    if (left > 0) workers?.set(wid, left);
    else workers?.delete(wid);
    if (workers?.size === 0) this.runs.delete(key);
  }

  /** Workers of a run with an open connection, sorted; '' stands for one without an id. */
  workersOf(workspace: Workspace, runId: RunId): string[] {
    return [...(this.runs.get(`${workspace}\0${runId}`)?.keys() ?? [])].sort();
  }

  all(): { workspace: Workspace; run: string; worker: WorkerId }[] {
    return [...this.runs].flatMap(([key, workers]) => {
      const [workspace = "", run = ""] = key.split("\0");
      return [...workers.keys()].map((worker) => ({ workspace, run, worker }));
    });
  }

  /** Connected workers of all runs. */
  count(): number {
    let sum = 0;
    for (const workers of this.runs.values()) sum += workers.size;
    return sum;
  }
}
