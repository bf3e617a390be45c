// Blocks that are sent again after a crash, or after the store was away for long, to a store that others write to as well. A
// store knows the tokens of some thousand blocks, and others may have sent that many since; then a block that was there
// already is there twice. So its groups are noted as written twice, and are read without copies from then on.

import { type FactTable, factTables } from "#model/tables.ts";
import { columnOf, decodeBlocks } from "#store/native/decode-block.ts";
import type { Store } from "#store/store.ts";
import { noteWriters } from "#store/writers.ts";
import type { PlannedBlock } from "./plan.ts";

export async function noteResent(store: Store, collector: string, blocks: readonly PlannedBlock[]): Promise<void> {
  if (store.kind === "embedded") return;
  const groups = new Set(blocks.flatMap(groupsOf));
  await noteWriters(store, groups, [`${collector}, again`]);
}

function groupsOf({ table, bytes }: PlannedBlock): string[] {
  if (!(table in factTables) || (table as FactTable) === "cirron_ids") return [];
  return [...decodeBlocks(bytes)].flatMap((block) =>
    columnOf(block, "group_key", "dict").keys.filter((key) => key !== ""),
  );
}
