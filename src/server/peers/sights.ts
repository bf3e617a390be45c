// What rules see, across collectors. The rows of a run may arrive at several collectors; each sees its own, and one of
// those alive, chosen by the run's name, decides whether a rule fires. A lost message is repeated as long as the
// condition holds, and the deciding collector checks the store first.

import { createHash } from "node:crypto";
import type { Bus } from "#bus/bus.ts";
import type { Peers } from "#bus/peers.ts";
import type { RunId, Workspace } from "#model/names.ts";
import type { ForeignSight } from "#watch/firing.ts";

export interface Sights {
  /** Without the bus each collector decides for itself. */
  isOurs(workspace: Workspace, runId: RunId): boolean;
  tell(sight: ForeignSight): void;
  listen(hear: (sight: ForeignSight) => void): void;
  /** Called when another collector is gone: some of its runs may be ours now. */
  onFewer(listener: () => void): void;
  peerWent(): void;
}

interface SightMessage extends Omit<ForeignSight, "signal"> {
  readonly text: string;
  readonly evidence: readonly string[];
  readonly metric: string;
  readonly step: string | null;
  readonly tsNs: string;
}

export function createSights(bus: Bus, peersOf: () => Peers): Sights {
  const ownerOf = (workspace: Workspace, runId: RunId): string => {
    const ids = [
      bus.self,
      ...(bus.isConnected
        ? peersOf()
            .list()
            .map(({ id }) => id)
        : []),
    ];
    return chooseOwner(ids, `${workspace}\0${runId}`);
  };
  const listeners: (() => void)[] = [];
  return {
    isOurs: (workspace, runId) => ownerOf(workspace, runId) === bus.self,
    tell({ signal: { at, ...signal }, ...named }) {
      const message: SightMessage = {
        ...named,
        ...signal,
        step: at.step?.toString() ?? null,
        tsNs: at.tsNs.toString(),
      };
      bus.tell("sight", message, ownerOf(named.workspace, named.runId));
    },
    listen(hear) {
      bus.hear("sight", (body) => {
        const { workspace, runId, rule, text, evidence, metric, step, tsNs } = body as SightMessage;
        const at = { step: step === null ? null : BigInt(step), tsNs: BigInt(tsNs) };
        hear({ workspace, runId, rule, signal: { text, evidence, metric, at } });
      });
    },
    onFewer: (listener) => listeners.push(listener),
    peerWent() {
      // If the bus is lost, the others may still be there.
      if (bus.isConnected) for (const listener of listeners) listener();
    },
  };
}

/**
 * Collectors that know the same peers choose the same one, and a peer that leaves changes nothing for runs of others.
 */
export function chooseOwner(ids: readonly string[], name: string): string {
  const weigh = (id: string) => createHash("sha256").update(`${id}\0${name}`).digest("hex");
  return ids.map((id) => [weigh(id), id] as const).sort(([a], [b]) => (a < b ? 1 : -1))[0]?.[1] ?? "";
}
