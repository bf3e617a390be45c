// Records that the server itself submits.

import type { Input } from "#intake/input.ts";
import type { Receipt, Sequencer, Submitted } from "#intake/sequencer.ts";
import { StoreOutage } from "#store/outage.ts";

export function submitOwn(sequencer: Sequencer, input: Input): Exclude<Submitted, string> {
  const submitted = sequencer.submit(input);
  if (typeof submitted === "string") throw new StoreOutage("overloaded", "The journal has no room for another record.");
  return submitted;
}

/** Resolves when the change is applied. A change that cannot be applied is an error of its caller, not only a fault. */
export async function submitChange(sequencer: Sequencer, input: Input): Promise<Receipt> {
  const receipt = await submitOwn(sequencer, input).applied;
  if (receipt.faults.length > 0) throw new Error(`The change could not be applied: ${receipt.faults[0]?.detail}`);
  return receipt;
}
