// Who may hand a command to a worker. A command is owned by the collector that it was posted to, and its id says so:
// `<id>@<collector>`. Another collector that has the worker asks the owner first, and the owner agrees once.

import type { Bus } from "#bus/bus.ts";
import type { Peers } from "#bus/peers.ts";
import type { Control, OtherCollectors } from "#control/control.ts";
import type { WorkerDirectory } from "./directory.ts";

interface Claim {
  readonly cmdId: string;
  readonly worker: string;
}

const askMs = 2000;

export function toOwnedId(id: string, collector: string): string {
  return `${id}@${collector}`;
}

function ownerOf(cmdId: string): string {
  return cmdId.slice(cmdId.lastIndexOf("@") + 1);
}

export function createClaims(
  bus: Bus,
  peers: Peers,
  directory: WorkerDirectory,
  control: () => Control | null,
): OtherCollectors {
  bus.answer("claim", (body) => {
    const { cmdId, worker } = body as Claim;
    return control()?.grant(cmdId, worker) ?? false;
  });
  bus.hear("unclaim", (body) => {
    const { cmdId, worker } = body as Claim;
    control()?.ungrant(cmdId, worker);
  });
  return {
    isOurs(cmdId) {
      const owner = ownerOf(cmdId);
      // An owner that is not heard while the bus is connected is gone, and the collector with the worker takes its
      // place. Without the bus nobody can know that, so the command waits.
      return owner === bus.self || !cmdId.includes("@") || (bus.isConnected && !peers.has(owner));
    },
    async claim(cmdId, worker) {
      try {
        return (await bus.ask(ownerOf(cmdId), "claim", { cmdId, worker } satisfies Claim, askMs)) === true;
      } catch {
        return false;
      }
    },
    unclaim: (cmdId, worker) => {
      bus.tell("unclaim", { cmdId, worker } satisfies Claim, ownerOf(cmdId));
    },
    accepting: (workspace, runId) => directory.workersOf("accepting", workspace, runId),
  };
}
