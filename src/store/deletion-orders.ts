// Orders to delete runs, on a shared store. An order is a fact: it says which groups it deletes, and up to which
// position of each collector's journal. A collector that learns of it late does exactly what it says.

import type { StateChange, StateRow } from "#model/state-tables.ts";
import { stateTables } from "#model/state-tables.ts";
import { encodeObjects } from "./native/encode-objects.ts";
import { readStateRows } from "./reader/state-rows.ts";
import type { Store } from "./store.ts";

export interface DeletionFact {
  readonly orderId: string;
  readonly workspace: string;
  readonly atNs: bigint;
  /** The groups and the names of their runs at that time: what comes after the order belongs to them again. */
  readonly groups: readonly StateRow<"groups">[];
  readonly aliases: readonly StateRow<"aliases">[];
  /**
   * The last deleted journal position of each collector. Rows of older releases name no collector, and all of them go.
   */
  readonly covered: Readonly<Record<string, number>>;
  readonly isDone: boolean;
  readonly version: bigint;
}

type Texts<T extends "groups" | "aliases"> = { readonly [C in keyof StateRow<T>]: string | number | null };

interface Body {
  readonly groups: readonly Texts<"groups">[];
  readonly aliases: readonly Texts<"aliases">[];
  readonly covered: Readonly<Record<string, number>>;
}

export function keysOf({ groups }: DeletionFact): string[] {
  return groups.map(({ group_key }) => group_key);
}

export function toDeletionChange(order: DeletionFact): StateChange {
  return { table: "deletions", row: toRow(order) };
}

/** Records that the rows of this order are removed, as far as they were stored. */
export async function noteDone(store: Store, order: DeletionFact): Promise<void> {
  const row = { ...toRow(order), done: 1, version: order.version + 1n };
  await store.insert("deletions", encodeObjects(stateTables.deletions, [row]), { token: `done-${order.orderId}` });
}

function toRow(order: DeletionFact): StateRow<"deletions"> {
  const { orderId, workspace, atNs, isDone, version, groups, aliases, covered } = order;
  const body = JSON.stringify({ groups, aliases, covered }, (_name, value: unknown) =>
    typeof value === "bigint" ? String(value) : value,
  );
  return { order_id: orderId, workspace, body, at_ns: atNs, done: isDone ? 1 : 0, version };
}

/** Reads one order, or those that are newer than a time or not done. */
export async function readOrders(
  store: Store,
  which: { readonly orderId: string } | { readonly sinceNs: bigint },
): Promise<DeletionFact[]> {
  const where = "orderId" in which ? "order_id = {id:String}" : "at_ns > {since:Int64} OR done = 0";
  const params = "orderId" in which ? { id: which.orderId } : { since: which.sinceNs };
  const rows = await readStateRows(store, "deletions", `WHERE ${where} ORDER BY at_ns`, params);
  return rows.map((row) => {
    const body = JSON.parse(row.body) as Body;
    return {
      orderId: row.order_id,
      workspace: row.workspace,
      atNs: row.at_ns,
      groups: body.groups.map((group) => withVersions({ ...group, deleted_ns: BigInt(group.deleted_ns ?? 0) })),
      aliases: body.aliases.map(withVersions),
      covered: body.covered,
      isDone: row.done === 1,
      version: row.version,
    } as unknown as DeletionFact;
  });
}

function withVersions<T extends { readonly version: string | number | null }>(row: T) {
  return { ...row, version: BigInt(row.version ?? 0) };
}
