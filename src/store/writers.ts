// Which collectors write to a group, in a shared store. A group with two writers is read without copies.

import { randomUUID } from "node:crypto";
import { nowNs } from "#base/clock.ts";
import { stateTables } from "#model/state-tables.ts";
import { type FactTable, factTables } from "#model/tables.ts";
import { columnOf, decodeBlocks } from "./native/decode-block.ts";
import { encodeObjects } from "./native/encode-objects.ts";
import type { Store } from "./store.ts";
import type { PlannedBlock } from "./writer/plan.ts";

export async function noteWriters(
  store: Store,
  groupKeys: Iterable<string>,
  collectors: readonly string[],
): Promise<void> {
  const version = nowNs();
  const rows = [...groupKeys].flatMap((group_key) =>
    collectors.map((collector) => ({ group_key, collector, version })),
  );
  if (rows.length === 0) return;
  await store.insert("writers", encodeObjects(stateTables.writers, rows), { token: `writers-${randomUUID()}` });
}

// Blocks that are sent again, after a crash or after the store was away for long, to a store that others write to as
// well. A store remembers the tokens of some thousand blocks, and others may have sent more since; then a block that
// was stored already is stored twice. So its groups are noted as written twice, and are read without copies from then
// on.

export async function noteResent(store: Store, collector: string, blocks: readonly PlannedBlock[]): Promise<void> {
  if (store.kind === "embedded") return;
  const groups = new Set(blocks.flatMap(groupsOf));
  await noteWriters(store, groups, [`${collector}, again`]);
}

/** The groups that a block of facts has rows of. */
export function groupsOf({ table, bytes }: PlannedBlock): string[] {
  if (!(table in factTables) || (table as FactTable) === "cirron_ids") return [];
  return [...decodeBlocks(bytes)].flatMap((block) =>
    columnOf(block, "group_key", "dict").keys.filter((key) => key !== ""),
  );
}
