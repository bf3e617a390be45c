// Copies everything from one store to another: from the engine of a data folder to a ClickHouse server. Rows go in the
// order of their tables, in parts that are cut the same way each time and named by tokens, so that copying can be
// interrupted and resumed anywhere. Every part is counted and summed on both sides.

import { createHash } from "node:crypto";
import { count, type RowOf, readRow, readRows, text } from "./reader/native-rows.ts";
import { factLayouts, stateLayouts, type TableLayout } from "./schema/table-layout.ts";
import type { Store } from "./store.ts";
import { noteWriters } from "./writers.ts";

export interface CopyOptions {
  /** The collector whose rows these are; rows of older releases do not name it. */
  readonly collector: string;
  /** How many parts are copied already. */
  readonly done: number;
  /** Called when another part is copied and equal on both sides. */
  onPart(done: number, table: string, rows: number): Promise<void>;
}

export class CopyMismatch extends Error {
  override readonly name = "CopyMismatch";
  readonly kind = "copy_mismatch";
}

interface Part {
  readonly layout: TableLayout;
  readonly groups: readonly string[];
  /** Within the rows of these groups, in the order of the table. */
  readonly offset: number;
  readonly rows: number;
}

const rowsAtOnce = 200_000;
const groupsAtOnce = 200;
/** Tables in which the collectors of a shared store record facts about themselves. */
const notCopied: ReadonlySet<string> = new Set(["collectors", "deletions"]);

/** Returns how many rows there are. Nobody may write to the source meanwhile. */
export async function copyStore(source: Store, target: Store, options: CopyOptions): Promise<number> {
  const layouts = [...factLayouts, ...stateLayouts.filter(({ name }) => !notCopied.has(name))];
  let at = 0;
  let rows = 0;
  for (const layout of layouts)
    for (const part of await findParts(source, layout)) {
      rows += part.rows;
      if (at++ < options.done) continue;
      await copyPart(source, target, part, options.collector);
      await options.onPart(at, layout.name, part.rows);
    }
  return rows;
}

/** A large group makes several parts; many small ones make one. */
async function findParts(source: Store, layout: TableLayout): Promise<Part[]> {
  const hasGroups = Object.hasOwn(layout.columns, "group_key");
  const sql = hasGroups
    ? `SELECT toString(group_key) AS name, count() AS rows FROM ${source.database}.${layout.name} FINAL GROUP BY name ORDER BY name`
    : `SELECT '' AS name, count() AS rows FROM ${source.database}.${layout.name} FINAL HAVING rows > 0`;
  const sizes = await readRows(source, { name: text, rows: count }, { sql });
  const parts: Part[] = [];
  let groups: string[] = [];
  let sum = 0;
  const cut = (): void => {
    for (let offset = 0; offset < sum; offset += rowsAtOnce)
      parts.push({ layout, groups: hasGroups ? groups : [], offset, rows: Math.min(rowsAtOnce, sum - offset) });
    groups = [];
    sum = 0;
  };
  for (const { name, rows } of sizes) {
    const isFull = sum + rows > rowsAtOnce || groups.length === groupsAtOnce;
    // Rows of no group have a part of their own, because other collectors have such rows too.
    if (groups.length > 0 && (isFull || groups[0] === "")) cut();
    groups.push(name);
    sum += rows;
  }
  cut();
  return parts;
}

async function copyPart(source: Store, target: Store, part: Part, collector: string): Promise<void> {
  const { layout, groups } = part;
  const here = await sumUp(source, part, collector);
  // A changed row of a small table exists in several versions, of which the newest counts.
  const isFact = layout.engine.version === undefined;
  const before = isFact ? await sumUp(target, part, collector) : nothing;
  if (isEqual(here, before)) return;
  // Rows of an earlier copy are sent again together with newer ones, and exist twice until the engine merges them.
  if (before.rows > 0) await noteWriters(target, groups, [collector, `${collector}, copied again`]);
  const columns = Object.keys(layout.columns);
  const query = { sql: selectPart(source, part, collector), params: { groups } };
  const chunks = await Array.fromAsync(source.stream(query, { format: "Native" }));
  const block = { rows: part.rows, columns, bytes: Buffer.concat(chunks) };
  await target.insert(layout.name, block, { token: `copy-${layout.name}-${nameOf(part, here, collector)}` });
  const after = await sumUp(target, part, collector);
  if (isFact ? isEqual(here, after) : here.rows === after.rows) return;
  throw new CopyMismatch(
    `Table ${layout.name} differs after copying: ${tell(here)} here, ${tell(after)} there. Has the other store rows of the same runs?`,
  );
}

/**
 * The name includes the content: a part that is cut in the same place may have other rows after the folder was used
 * again.
 */
function nameOf({ groups, offset }: Part, { rows, sum }: Sum, collector: string): string {
  const text = JSON.stringify([collector, groups, offset, rows, sum]);
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}

/** The rows of the part; with `isOwn` only those of the collector itself, if the table names the collector. */
function selectPart(store: Store, part: Part, collector: string, isOwn = false): string {
  const { layout, groups, offset, rows } = part;
  const order = layout.orderBy.map((name) => `\`${name}\``).join(", ");
  const hasWriter = Object.hasOwn(layout.columns, "collector") && !layout.orderBy.includes("collector");
  const writer = `if(t.collector = '', '${collector}', toString(t.collector))`;
  const cells = Object.keys(layout.columns).map((name) =>
    name === "collector" && hasWriter
      ? `CAST(${writer}, 'LowCardinality(String)') AS collector`
      : `t.\`${name}\` AS \`${name}\``,
  );
  const where = [
    ...(groups.length === 0 ? [] : ["t.group_key IN {groups:Array(String)}"]),
    ...(isOwn && hasWriter ? [`${writer} = '${collector}'`] : []),
  ];
  return `SELECT ${cells.join(", ")} FROM ${store.database}.${layout.name} AS t FINAL
    ${where.length === 0 ? "" : `WHERE ${where.join(" AND ")}`}
    ORDER BY ${order} LIMIT ${rows} OFFSET ${offset}`;
}

const sumRow = { rows: count, sum: text };
type Sum = RowOf<typeof sumRow>;

const nothing: Sum = { rows: 0, sum: "" };
const isEqual = (one: Sum, other: Sum): boolean => one.rows === other.rows && one.sum === other.sum;
const tell = ({ rows, sum }: Sum): string => `${rows} rows with sum ${sum}`;

async function sumUp(store: Store, part: Part, collector: string): Promise<Sum> {
  const rows = selectPart(store, part, collector, part.groups[0] === "");
  const sql = `SELECT count() AS rows, ifNull(toString(sum(cityHash64(*))), '') AS sum FROM (${rows})`;
  return (await readRow(store, sumRow, { sql, params: { groups: part.groups } })) ?? nothing;
}
