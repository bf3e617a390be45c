// Everything that one store holds into another: from a data folder's own engine to a ClickHouse server. Rows go in the
// order of their tables, in parts that are cut the same way each time and named by tokens, so that copying may be broken
// off and begun again anywhere. Every part is counted and summed up on both sides.

import { createHash } from "node:crypto";
import { factLayouts, stateLayouts, type TableLayout } from "./schema/table-layout.ts";
import type { Store } from "./store.ts";

export interface CopyOptions {
  /** The collector whose rows these are; those of older releases do not say it. */
  readonly collector: string;
  /** How many parts are copied already. */
  readonly done: number;
  /** A part more is copied, and equal on both sides. */
  onPart(done: number, table: string, rows: number): Promise<void>;
}

export class CopyMismatch extends Error {
  override readonly name = "CopyMismatch";
  readonly kind = "copy_mismatch";
}

interface Part {
  readonly layout: TableLayout;
  readonly groups: readonly string[];
  /** Of the rows of these groups, in the table's order. */
  readonly offset: number;
  readonly rows: number;
}

const rowsAtOnce = 200_000;
const groupsAtOnce = 200;
/** What collectors of a shared store tell of themselves. */
const notCopied: ReadonlySet<string> = new Set(["collectors", "deletions", "settings"]);

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

/** Large groups in several parts, small ones many in one. */
async function findParts(source: Store, layout: TableLayout): Promise<Part[]> {
  const hasGroups = Object.hasOwn(layout.columns, "group_key");
  const sizes = await source.query<{ name: string; rows: string }>({
    sql: hasGroups
      ? `SELECT toString(group_key) AS name, count() AS rows FROM ${source.database}.${layout.name} FINAL GROUP BY name ORDER BY name`
      : `SELECT '' AS name, count() AS rows FROM ${source.database}.${layout.name} FINAL HAVING rows > 0`,
  });
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
    if (groups.length > 0 && (sum + Number(rows) > rowsAtOnce || groups.length === groupsAtOnce)) cut();
    groups.push(name);
    sum += Number(rows);
  }
  cut();
  return parts;
}

async function copyPart(source: Store, target: Store, part: Part, collector: string): Promise<void> {
  const { layout, groups, offset, rows } = part;
  const columns = Object.keys(layout.columns);
  const chunks: Uint8Array[] = [];
  const query = { sql: selectPart(source, part, collector, columns), params: { groups } };
  for await (const chunk of source.stream(query, { format: "Native" })) chunks.push(chunk);
  const name = createHash("sha256")
    .update(JSON.stringify([collector, groups, offset, rows]))
    .digest("hex");
  const block = { rows, columns, bytes: Buffer.concat(chunks) };
  await target.insert(layout.name, block, { token: `copy-${layout.name}-${name.slice(0, 32)}` });
  await compare(source, target, part, collector);
}

function selectPart(
  store: Store,
  { layout, groups, offset, rows }: Part,
  collector: string,
  columns: string[],
): string {
  const order = layout.orderBy.map((name) => `\`${name}\``).join(", ");
  const cells = columns.map((name) =>
    name === "collector" && layout.orderBy[0] !== "collector" && !layout.orderBy.includes(name)
      ? `CAST(if(t.collector = '', '${collector}', toString(t.collector)), 'LowCardinality(String)') AS collector`
      : `t.\`${name}\` AS \`${name}\``,
  );
  return `SELECT ${cells.join(", ")} FROM ${store.database}.${layout.name} AS t FINAL
    ${groups.length === 0 ? "" : "WHERE t.group_key IN {groups:Array(String)}"}
    ORDER BY ${order} LIMIT ${rows} OFFSET ${offset}`;
}

/** Facts never change, so both sides are equal; a small table may have got newer rows there, but no fewer. */
async function compare(source: Store, target: Store, part: Part, collector: string): Promise<void> {
  const { layout, groups } = part;
  const isFact = layout.engine.version === undefined;
  const names = Object.keys(layout.columns);
  const sumOf = async (store: Store): Promise<string> => {
    const [row] = await store.query<{ rows: string; sum: string }>({
      sql: `SELECT count() AS rows, toString(sum(cityHash64(*))) AS sum FROM (${selectPart(store, part, collector, names)})`,
      params: { groups },
    });
    return isFact ? `${row?.rows} rows with sum ${row?.sum}` : `${row?.rows} rows`;
  };
  const [here, there] = await Promise.all([sumOf(source), sumOf(target)]);
  if (here === there) return;
  throw new CopyMismatch(
    `Table ${layout.name} differs after copying: ${here} here, ${there} there. Has the other store rows of the same runs?`,
  );
}
