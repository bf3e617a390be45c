// What the protocols made of requests → the collector, in order.

import type { Submitted } from "#intake/sequencer.ts";
import type { Busy, Intake, Receipt } from "#server/http/ports.ts";
import type { Collector } from "./collector.ts";

/** How long a client is asked to wait when there is no room: time for the store to take a few plans. */
const retryAfterS = { memory_full: 1, disk_full: 5 } as const;

export function createHttpIntake(collector: Collector): Intake {
  return {
    async submit(submissions, answerWhen) {
      let total: Receipt = {
        position: collector.sequencer.position.durable,
        accepted: 0,
        duplicates: 0,
        faults: [],
      };
      for (const { input, decoded } of submissions) {
        const receipt = await toReceipt(collector.submit(input, decoded), answerWhen);
        if ("busy" in receipt) return receipt;
        total = {
          position: receipt.position,
          accepted: total.accepted + receipt.accepted,
          duplicates: total.duplicates + receipt.duplicates,
          faults: [...total.faults, ...receipt.faults],
        };
      }
      return total;
    },
    queryable: (position) => collector.queryable(position),
  };
}

async function toReceipt(submitted: Submitted, answerWhen: "durable" | "applied"): Promise<Receipt | Busy> {
  if (typeof submitted === "string") return { busy: true, retryAfterS: retryAfterS[submitted] };
  if (answerWhen === "applied") return submitted.applied;
  submitted.applied.catch(() => undefined);
  return { position: await submitted.durable, accepted: 0, duplicates: 0, faults: [] };
}
