// Runs that were deleted a moment ago. A question about one is answered without waiting: everything accepted before the
// deletion went with it.

import type { RunId, Workspace } from "#model/names.ts";

const momentMs = 2000;

export class JustDeleted {
  private readonly atMs = new Map<string, number>();

  note(workspace: Workspace, runIds: Iterable<string>): void {
    const now = performance.now();
    // They are in the order of their times.
    for (const [name, at] of this.atMs) {
      if (now - at < momentMs) break;
      this.atMs.delete(name);
    }
    for (const runId of runIds) {
      const name = `${workspace}/${runId}`;
      this.atMs.delete(name);
      this.atMs.set(name, now);
    }
  }

  has(workspace: Workspace, runId: RunId): boolean {
    const at = this.atMs.get(`${workspace}/${runId}`);
    return at !== undefined && performance.now() - at < momentMs;
  }
}
