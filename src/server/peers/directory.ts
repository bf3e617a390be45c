// Which workers are connected to which collector. A collector announces changes, and everything to a new collector.

import type { Bus } from "#bus/bus.ts";
import type { RunId, WorkerId, Workspace } from "#model/names.ts";

/** A worker that is connected, or one that also asked for commands. */
export interface WorkerPlace {
  readonly kind: "connected" | "accepting";
  readonly workspace: Workspace;
  readonly run: string;
  readonly worker: WorkerId;
}

interface Tidings {
  /** Replaces all earlier announcements. */
  readonly isWhole: boolean;
  readonly came: readonly WorkerPlace[];
  readonly went: readonly WorkerPlace[];
}

/** So many always fit one message. */
const atOnce = 1000;

export class WorkerDirectory {
  private readonly bus: Bus;
  private readonly local: () => readonly WorkerPlace[];
  private told = new Map<string, WorkerPlace>();
  /** Collector → kind, workspace and run → workers. */
  private readonly others = new Map<string, Map<string, Set<string>>>();

  constructor(bus: Bus, local: () => readonly WorkerPlace[]) {
    this.bus = bus;
    this.local = local;
    bus.hear("workers", (body, from) => this.take(body as Tidings, from));
  }

  /** Call it about once a second. */
  tell(): void {
    const now = new Map(this.local().map((place) => [`${runKey(place)}\0${place.worker}`, place]));
    const came = [...now].flatMap(([key, place]) => (this.told.has(key) ? [] : [place]));
    const went = [...this.told].flatMap(([key, place]) => (now.has(key) ? [] : [place]));
    this.told = now;
    if (came.length + went.length > 0) this.send(came, went, false);
  }

  tellAll(to: string): void {
    this.tell();
    this.send([...this.told.values()], [], true, to);
  }

  peerWent(id: string): void {
    this.others.delete(id);
  }

  /** Workers of a run at other collectors, sorted. */
  workersOf(kind: WorkerPlace["kind"], workspace: Workspace, run: RunId): string[] {
    const key = runKey({ kind, workspace, run });
    return [...new Set([...this.others.values()].flatMap((runs) => [...(runs.get(key) ?? [])]))].sort();
  }

  private send(came: readonly WorkerPlace[], went: readonly WorkerPlace[], isWhole: boolean, to?: string): void {
    for (let at = 0; at === 0 || at < Math.max(came.length, went.length); at += atOnce) {
      const tidings = { came: came.slice(at, at + atOnce), went: went.slice(at, at + atOnce) };
      this.bus.tell("workers", { isWhole: isWhole && at === 0, ...tidings } satisfies Tidings, to);
    }
  }

  private take({ isWhole, came, went }: Tidings, from: string): void {
    const known = isWhole ? undefined : this.others.get(from);
    const runs = known ?? new Map<string, Set<string>>();
    this.others.set(from, runs);
    for (const place of went) {
      const key = runKey(place);
      runs.get(key)?.delete(place.worker);
      if (runs.get(key)?.size === 0) runs.delete(key);
    }
    for (const place of came) runs.set(runKey(place), (runs.get(runKey(place)) ?? new Set()).add(place.worker));
  }
}

function runKey({ kind, workspace, run }: Omit<WorkerPlace, "worker">): string {
  return `${kind}\0${workspace}\0${run}`;
}
