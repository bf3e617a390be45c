// `metric_by_key` in the embedded engine: the summaries of metrics once more, ordered by key. Filling it with every
// plan would cost as much as the summary itself, and it is asked rarely. So the collector copies new rows from time to
// time, and a question reads the rest from the summary (`reader/cells.ts`).
//
// The engine numbers the blocks that are inserted into a table, and a part holds a range of them; so one number says
// what has been copied. It is stored as a mark in the table itself, in a row without group and key. Numbers may begin
// again when an engine starts with an empty table, so a mark counts only while that engine runs. The next start takes
// it over if the table has at least as many blocks as it says. Copying a row twice changes nothing, see summaries.ts.

import { randomUUID } from "node:crypto";
import { count, readRow } from "./reader/native-rows.ts";
import { metricSummary, metricsByKey } from "./schema/summaries.ts";
import { quote } from "./sql-quote.ts";
import type { Store } from "./store.ts";

const processId = randomUUID();
/** How many rows a statement copies, so that plans get their turn in between. */
const rowsAtOnce = 200_000;

const target = metricsByKey.target.name;
const source = metricSummary.target.name;
const marks = "key = '' AND group_key = ''";
/** Deduplication is off: rows that were copied and deleted since must be copied again. */
const settings =
  "insert_deduplicate = 0, max_threads = 1, max_block_size = 32768, min_insert_block_size_rows = 32768, min_insert_block_size_bytes = 0";

/** The last block of the part that holds a row of the summary. */
export const lastBlockSql = "toInt64(splitByChar('_', toString(_part))[3])";

/** The name of the mark that counts now. */
function markName({ restarts }: Pick<Store, "restarts">): string {
  return `${processId}-${restarts}`;
}

const blockRow = { block: count };

/** The block of the summary up to which all rows have been copied; 0 for none. */
export async function readCopiedTo(store: Store): Promise<number> {
  const sql = `SELECT max(max_ns) AS block FROM ${store.database}.${target} WHERE ${marks} AND worker = {mark:String}`;
  return (await readRow(store, blockRow, { sql, params: { mark: markName(store) } }))?.block ?? 0;
}

/** Takes over the mark of the last engine, if it still counts. Call it after a start, before anything is stored. */
export async function handOnMark(store: Store): Promise<void> {
  const sql = `SELECT max(max_ns) AS block FROM ${store.database}.${target} WHERE ${marks}`;
  const marked = (await readRow(store, blockRow, { sql }))?.block ?? 0;
  if (marked === 0) return;
  if (marked > (await readLast(store)).block) await store.ddl(`DELETE FROM ${store.database}.${target} WHERE ${marks}`);
  else await store.ddl(markSql(store.database, quote(markName(store)), String(marked)));
}

/** Copies what is new. */
export async function copyMetricsByKey(store: Store, rowsMax: number = rowsAtOnce): Promise<void> {
  const { database } = store;
  const mark = quote(markName(store));
  const done = await readCopiedTo(store);
  const last = await readLast(store, done);
  if (last.block <= done) return;
  const names = Object.keys(metricsByKey.target.columns).join(", ");
  const slices = Math.ceil(last.rows / rowsMax);
  for (let slice = 0; slice < slices; slice++)
    await store.ddl(`INSERT INTO ${database}.${target} (${names}) SETTINGS ${settings}
SELECT ${names} FROM ${database}.${source}
WHERE ${lastBlockSql} > ${done}${slices === 1 ? "" : ` AND cityHash64(group_key, key) % ${slices} = ${slice}`}`);
  await store.ddl(markSql(database, mark, String(last.block)));
}

/** For a table that every insert has filled so far. */
export function markAllSql(database: string): string {
  const last = `(SELECT max(max_block_number) FROM system.parts WHERE active AND database = ${quote(database)} AND table = ${quote(source)})`;
  return markSql(database, quote(processId), last);
}

function markSql(database: string, mark: string, block: string): string {
  return `INSERT INTO ${database}.${target} (group_key, key, worker, phase, max_ns) SETTINGS insert_deduplicate = 0
SELECT '', '', ${mark}, '', toInt64(${block})`;
}

const lastRow = { ...blockRow, rows: count };

/** The last block of the summary, and how many rows lie in parts with blocks after `done`. */
async function readLast(store: Store, done = 0): Promise<{ readonly block: number; readonly rows: number }> {
  const last = await readRow(store, lastRow, {
    sql: `SELECT toInt64(max(max_block_number)) AS block, toInt64(sumIf(rows, max_block_number > {done:Int64})) AS rows
      FROM system.parts WHERE active AND database = {database:String} AND table = {source:String}`,
    params: { database: store.database, source, done },
  });
  return last ?? { block: 0, rows: 0 };
}
