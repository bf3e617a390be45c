// Plans that are sent again after a crash, to a store that others write to as well. A store knows the tokens of some thousand
// blocks, and others may have sent that many since; then a block that was there already is there twice. So the groups of
// such plans are noted as written twice, and are read without copies from then on.

import { randomUUID } from "node:crypto";
import { nowNs } from "#base/clock.ts";
import { stateTables } from "#model/state-tables.ts";
import { type FactTable, factTables } from "#model/tables.ts";
import { columnOf, decodeBlocks } from "#store/native/decode-block.ts";
import { encodeObjects } from "#store/native/encode-objects.ts";
import type { Store } from "#store/store.ts";
import type { Plan } from "./plan.ts";

export async function noteResent(store: Store, collector: string, plans: readonly Plan[]): Promise<void> {
  const groups = new Set(plans.flatMap(({ blocks }) => blocks).flatMap(groupsOf));
  if (store.kind === "embedded" || groups.size === 0) return;
  const version = nowNs();
  const rows = [...groups].map((group_key) => ({ group_key, collector: `${collector}, again`, version }));
  await store.insert("writers", encodeObjects(stateTables.writers, rows), { token: `resent-${randomUUID()}` });
}

function groupsOf({ table, bytes }: Plan["blocks"][number]): string[] {
  if (!(table in factTables) || (table as FactTable) === "cirron_ids") return [];
  return decodeBlocks(bytes).flatMap((block) => columnOf(block, "group_key", "dict").keys.filter((key) => key !== ""));
}
