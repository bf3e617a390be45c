// What a stopped process left in the outbox, as the next start reads it: the plan that was being sent, and one that was
// made meanwhile. No plan is sent before the one ahead of it is stored. So if a plan is damaged, those behind it were
// not sent and must not be: their records are read from the journal again, together with those of the damaged one, and
// make other plans.

import type { OpenPlan, Outbox } from "./outbox.ts";
import { decodePlan, type Plan } from "./plan.ts";

/**
 * The plans to send, and the position that is reached once they are stored. If nothing says how far the store has got,
 * the position begins before `journalFirst`: what came before is stored, or the journal would still have it.
 * `isDamaged`: the store may have some rows of records after that position, from a lost plan.
 */
export async function readOpenPlans(outbox: Outbox, journalFirst: () => Promise<number>) {
  const known = await outbox.position();
  let position = known ?? (await journalFirst()) - 1;
  const plans: Plan[] = [];
  let isLost = false;
  for (const open of await outbox.open()) {
    if (open.to <= position) {
      await outbox.discard(open.to);
      continue;
    }
    const plan = isLost ? null : await readPlan(open);
    // Without a known position, the first plan is taken to follow what is stored.
    const follows = plan !== null && (plan.from === position + 1 || (plans.length === 0 && !known));
    if (follows) {
      plans.push(plan);
      position = open.to;
      continue;
    }
    // Until its records are stored, its file tells later starts too that the store may have some of their rows.
    isLost = true;
    if (open.bytes !== undefined) await outbox.spoil(open.to);
  }
  return { position, plans, isDamaged: isLost || known === null };
}

async function readPlan({ bytes, readFile }: OpenPlan): Promise<Plan | null> {
  return bytes === undefined ? null : decodePlan(bytes, readFile);
}
