// Gathered batches → one block a table. First who writes what where, because a reader must know that a second copy may
// come; then the facts; then the small tables that map them to runs, so that a row is never shown under a run before it
// is there.

import { inTurns } from "#base/turns.ts";
import type { AnyTablePart, Batch } from "#model/batch.ts";
import { type StateChange, type StateTable, stateTables } from "#model/state-tables.ts";
import { type FactTable, factTables, hasPlace, type Rows } from "#model/tables.ts";
import { encodeSteps, type NativeBlock, releaseBlock } from "#store/native/encode-block.ts";
import { encodeObjects } from "#store/native/encode-objects.ts";
import type { PlannedBlock } from "./plan.ts";
import { rowsPerBlock } from "./series-count.ts";
import type { BlockMaker } from "./writer.ts";

const toldFirst: readonly StateTable[] = ["writers", "batch_places"];
const toldLast = (Object.keys(stateTables) as StateTable[]).filter((table) => !toldFirst.includes(table));

/** A row says whose journal it came by, because each collector counts its own positions. */
export function createBlockMaker(collector: string): BlockMaker {
  return { encode: (batches) => toBlocks(batches, collector), release: releaseBlock };
}

async function toBlocks(batches: readonly Batch[], collector: string): Promise<Omit<PlannedBlock, "token">[]> {
  const parts = Map.groupBy(
    batches.flatMap((batch) => batch.parts),
    (part) => part.table,
  );
  const changes = Map.groupBy(
    batches.flatMap((batch) => batch.state),
    (change) => change.table,
  );
  const blocks: Omit<PlannedBlock, "token">[] = [];
  const pushState = (table: StateTable): void => {
    const mine = changes.get(table);
    if (mine === undefined) return;
    blocks.push({ table, ...encodeState(table, table === "cirron_components" ? latestOf(mine) : mine) });
  };
  for (const table of toldFirst) pushState(table);
  for (const table of Object.keys(factTables) as FactTable[]) {
    const mine = parts.get(table);
    if (mine === undefined) continue;
    const encoded = await inTurns(encodeFacts(table, mine, collector));
    for (const [part, block] of encoded.entries()) blocks.push({ table, part, ...block });
  }
  for (const table of toldLast) pushState(table);
  return blocks.filter((block) => block.rows > 0);
}

/** Tables whose rows hold whole records: a few thousand rows are more than the engine should take at once. */
const longTables: ReadonlySet<FactTable> = new Set(["events", "nodes"]);
/**
 * A little less than the largest buffer that is pooled: allocating more for every plan would trigger the garbage
 * collector.
 */
const blockBytesMax = 30 * 1024 * 1024;

function* encodeFacts(
  table: FactTable,
  parts: readonly AnyTablePart[],
  collector: string,
): Generator<void, NativeBlock[]> {
  return yield* encodeSteps(
    table,
    parts.map((part) => part.rows as Rows<typeof table>),
    parts.map((part) => part.dropped),
    hasPlace(table) ? { collector } : {},
    yield* rowsPerBlock(parts.flatMap((part) => (part.table === "metrics" ? [part.rows] : []))),
    longTables.has(table) ? blockBytesMax : Number.POSITIVE_INFINITY,
  );
}

/** Every batch describes its process again, at length. Of several rows the last counts, here as in the store. */
function latestOf(changes: readonly StateChange[]): StateChange[] {
  const latest = new Map<string, StateChange>();
  for (const change of changes) {
    const { group_key } = change.row as { readonly group_key: string };
    const before = latest.get(group_key);
    if (before === undefined || change.row.version >= before.row.version) latest.set(group_key, change);
  }
  return [...latest.values()];
}

function encodeState(table: StateTable, changes: readonly StateChange[]): NativeBlock {
  return encodeObjects(
    stateTables[table],
    changes.map((change) => change.row as never),
  );
}
