// Everything a run received, whatever table it lies in, as rows of one shape in the order of arrival. The cells of a
// row are the texts of its table's columns; what they mean is for whoever rebuilds the record.

import type { RowPlace } from "#model/positions.ts";
import { type RecordKind, recordKinds } from "#protocol/record-kinds.ts";
import type { RecordSource } from "#protocol/record-source.ts";
import type { ParamValue } from "#store/params.ts";
import { type Query, type Store, takenAway, withOptions } from "#store/store.ts";
import { cutText, shownBytesMax } from "./cut-text.ts";
import { allOf, inGroups } from "./group-scope.ts";
import {
  decimal,
  int,
  list,
  nullable,
  type RowOf,
  readColumn,
  readMap,
  readRows,
  streamRows,
  text,
  word,
} from "./native-rows.ts";
import {
  type JournalPlace,
  journalOrder,
  journalPlace,
  paramsOfPlace,
  placeOrder,
  placeParams,
  type RecordPlace,
  recordPlace,
  sortedBy,
} from "./record-place.ts";
import type { TimeWindow } from "./time-window.ts";

/** Of a record that lies in several rows, only the first has `extra` and `raw`. */
const recordRow = {
  kind: word<RecordKind>(),
  group_key: text,
  protocol: text,
  type: text,
  worker: text,
  seq: nullable(decimal),
  ts_ns: decimal,
  ...recordPlace,
  flags: int,
  extra: text,
  raw: text,
  cells: list(nullable(text)),
};
export type RecordRow = RowOf<typeof recordRow>;

/** A row of a list: of one whose texts together are longer than a list shows, each is cut. */
const shownRow = { ...recordRow, bytes: int };
export type ShownRow = RowOf<typeof shownRow>;

export interface RecordFilter extends TimeWindow {
  readonly types: readonly string[];
  readonly protocol: string;
  readonly worker: string | null;
  readonly text: string;
}

const everyRecord: Omit<RecordFilter, "groups"> = {
  types: [],
  protocol: "",
  worker: null,
  text: "",
  fromNs: null,
  toNs: null,
};

export interface RecordPage extends RecordFilter {
  readonly after: RecordPlace | null;
  readonly descending: boolean;
  readonly limit: number;
}

const recordTables = [...new Set(Object.values(recordKinds).map(({ table }) => table))];
const kindNames = Object.keys(recordKinds) as RecordKind[];

/** The rows of a page of records: their places first, from narrow columns; then the rows that lie there. */
export async function readRecordPage(store: Store, page: RecordPage): Promise<ShownRow[]> {
  const places = await readRows(store, recordPlace, pagePlacesQuery(store.database, page));
  const ends = [places[0], places.at(-1)].flatMap((place) => (place === undefined ? [] : [place]));
  if (page.descending) ends.reverse();
  const [low, high] = ends;
  if (low === undefined || high === undefined) return [];
  return readRows(
    store,
    shownRow,
    recordRowsQuery(store.database, page, between(low, high), { isDescending: page.descending, isCut: true }),
  );
}

/** What a list shows of rows, and how large they are. They are cut before they are sorted, which takes them into memory. */
function cutRows(rows: string): string {
  const size = "length(extra) + length(r_raw) + arraySum(cell -> length(ifNull(cell, '')), r_cells)";
  const isLarge = `r.bytes > ${shownBytesMax}`;
  const cut = (column: string): string => `if(${isLarge}, ${cutText(`r.${column}`)}, r.${column}) AS ${column}`;
  const cells = `if(${isLarge}, arrayMap(cell -> ${cutText("cell")}, r.r_cells), r.r_cells) AS r_cells`;
  return `SELECT * EXCEPT (extra, r_raw, r_cells), ${cut("extra")}, ${cut("r_raw")}, ${cells}
    FROM (SELECT *, toUInt32(${size}) AS bytes FROM (${rows})) AS r`;
}

/** The rows of the record at a place; none when these groups have none there. */
export function readRecordAt(store: Store, groups: readonly string[], place: RowPlace): Promise<RecordRow[]> {
  const { collector, jpos, jrow } = place;
  const within = {
    sql: "collector = {p1:String} AND jpos = {p2:Int64} AND jrow = {p3:UInt32}",
    params: { p1: collector, p2: jpos, p3: jrow },
  };
  return readRows(store, recordRow, recordRowsQuery(store.database, { ...everyRecord, groups }, within));
}

/** The rows of these groups that came in the journal records between two, both included, in the order of arrival. */
export function streamRecords(
  store: Store,
  groups: readonly string[],
  { from, to }: { readonly from: JournalPlace; readonly to: JournalPlace },
): AsyncGenerator<RecordRow> {
  const within = between({ ...from, jrow: 0 }, { ...to, jrow: 2 ** 32 - 1 });
  const query = recordRowsQuery(store.database, { ...everyRecord, groups }, within);
  return streamRows(withOptions(store, takenAway), recordRow, query);
}

/** The rows of the groups of several runs: one run after the other, each in the order of arrival. */
export function streamRunRecords(store: Store, runs: readonly (readonly string[])[]): AsyncGenerator<RecordRow> {
  const groups = runs.flat();
  const places = runs.flatMap((keys, place) => keys.map(() => place));
  const { sql, params } = recordRowsQuery(
    store.database,
    { ...everyRecord, groups },
    { sql: "1", params: {} },
    { before: "transform(r_group, {groups:Array(String)}, {places:Array(UInt32)}, toUInt32(0))" },
  );
  return streamRows(withOptions(store, takenAway), recordRow, { sql, params: { ...params, places } });
}

/** The groups with rows of the journal records between two, both included. */
export function readGroupsBetween(
  store: Store,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<string[]> {
  const of = (table: string): string =>
    `SELECT DISTINCT toString(group_key) AS key FROM ${store.database}.${table}
      WHERE jpos >= {from:Int64} AND jpos <= {to:Int64}`;
  const sql = `SELECT DISTINCT key FROM (${recordTables.map(of).join(" UNION ALL ")})`;
  return readColumn(store, text, { sql, params: { from, to } });
}

/** The rows of these groups that came by the records of one collector's journal between two, both included. */
export function streamJournal(
  store: Store,
  groups: readonly string[],
  { collector, from, to }: { readonly collector: string; readonly from: string; readonly to: string },
): AsyncGenerator<RecordRow> {
  const within = {
    // Rows of older releases are this folder's own and name nobody.
    sql: "collector IN ({p1:String}, '') AND jpos >= {p2:Int64} AND jpos <= {p3:Int64}",
    params: { p1: collector, p2: from, p3: to },
  };
  const query = recordRowsQuery(store.database, { ...everyRecord, groups }, within);
  return streamRows(store, recordRow, query);
}

/** How many rows each journal record has, in order: what is read at once is cut by it. */
export function readRecordSizes(store: Store, groups: readonly string[]) {
  const of = (table: string): string =>
    `SELECT received_ns, collector, jpos FROM ${store.database}.${table} WHERE ${inGroups}`;
  return readRows(
    store,
    { ...journalPlace, rows: int },
    {
      sql: `SELECT ${journalOrder}, toUInt32(count()) AS rows FROM (${recordTables.map(of).join(" UNION ALL ")})
        GROUP BY ${journalOrder} ORDER BY ${journalOrder}`,
      params: { groups },
    },
  );
}

export function readGroupSizes(store: Store, groups: readonly string[]) {
  const of = (table: string): string =>
    `SELECT toString(group_key) AS key, count() AS part FROM ${store.database}.${table} WHERE ${inGroups} GROUP BY key`;
  const sql = `SELECT key, toUInt32(sum(part)) AS rows FROM (${recordTables.map(of).join(" UNION ALL ")}) GROUP BY key`;
  return readMap(store, text, int, { sql, params: { groups } });
}

function pagePlacesQuery(database: string, page: RecordPage): Query {
  const order = page.descending ? "DESC" : "ASC";
  const behind = page.after === null ? "" : `AND (${placeOrder}) ${page.descending ? "<" : ">"} ${placeParams("a")}`;
  const of = (kind: RecordKind): string => {
    const { table, first, entry }: RecordSource = recordKinds[kind];
    // A text may stand in any row of a record.
    const byFirst = first !== undefined && page.text === "";
    const distinct = entry === undefined || byFirst ? "" : "DISTINCT";
    return `SELECT ${distinct} ${placeOrder} FROM ${database}.${table}
      WHERE ${conditions(kind, page, true)} ${behind} ${byFirst ? `AND ${first}` : ""}
      ORDER BY ${sortedBy(order)} LIMIT {limit:UInt32}`;
  };
  return {
    sql: `SELECT ${placeOrder} FROM (${kindNames.map((kind) => `SELECT * FROM (${of(kind)})`).join(" UNION ALL ")})
      ORDER BY ${sortedBy(order)} LIMIT {limit:UInt32}`,
    params: {
      ...paramsOf(page),
      limit: page.limit,
      ...(page.after === null ? {} : paramsOfPlace("a", page.after)),
    },
  };
}

/** Both places included. */
function between(low: RecordPlace, high: RecordPlace): Required<Query> {
  return {
    sql: `(${placeOrder}) >= ${placeParams("l")} AND (${placeOrder}) <= ${placeParams("h")}`,
    params: { ...paramsOfPlace("l", low), ...paramsOfPlace("h", high) },
  };
}

/** Such rows are wide: a block of them is read in one go. */
const blockRowsMax = 8192;

/** The rows that lie within some places. */
function recordRowsQuery(
  database: string,
  filter: RecordFilter,
  within: Required<Query>,
  { isDescending = false, isCut = false, before = "" } = {},
): Query {
  const of = (kind: RecordKind): string => {
    const source: RecordSource = recordKinds[kind];
    const cells = source.columns.map((column) => `CAST(${quoteName(column)} AS Nullable(String))`).join(", ");
    // An alias would hide the column of its name from the cells.
    return `SELECT '${kind}' AS r_kind, toString(group_key) AS r_group, toString(${source.protocol}) AS r_protocol,
        toString(${source.type}) AS r_type, toString(${source.worker}) AS r_worker,
        CAST(${source.seq} AS Nullable(Int64)) AS r_seq, toInt64(${source.ts}) AS r_ts, ${placeOrder}, flags,
        extra, ${kind === "output" ? "''" : "raw"} AS r_raw, [${cells}] AS r_cells, toInt32(${source.entry ?? "0"}) AS r_place
      FROM ${database}.${source.table} WHERE ${conditions(kind, filter, true)} AND ${within.sql}`;
  };
  const order = isDescending ? "DESC" : "ASC";
  const rows = kindNames.map(of).join(" UNION ALL ");
  return {
    sql: `SELECT r_kind AS kind, r_group AS group_key, r_protocol AS protocol, r_type AS type, r_worker AS worker,
        r_seq AS seq, r_ts AS ts_ns, ${placeOrder}, flags, extra, r_raw AS raw, r_cells AS cells${isCut ? ", bytes" : ""}
      FROM (${isCut ? cutRows(rows) : rows}) ORDER BY ${before === "" ? "" : `${before}, `}${sortedBy(order)}, r_place
      SETTINGS max_block_size = ${blockRowsMax}`,
    params: {
      ...paramsOf(filter),
      ...within.params,
    },
  };
}

/** How many match by type, whatever types are asked for. */
export function readRecordTypes(store: Store, filter: RecordFilter) {
  const of = (kind: RecordKind): string => {
    const source: RecordSource = recordKinds[kind];
    const byFirst = source.first !== undefined && filter.text === "";
    const several = byFirst ? `countIf(${source.first})` : "uniqExact(collector, jpos, jrow)";
    const count = source.entry === undefined ? "count()" : several;
    return `SELECT toString(${source.type}) AS name, ${count} AS records FROM ${store.database}.${source.table}
      WHERE ${conditions(kind, filter, false)} GROUP BY name`;
  };
  return readMap(store, text, int, {
    sql: `SELECT name, toUInt32(sum(records)) AS count FROM (${kindNames.map(of).join(" UNION ALL ")})
      GROUP BY name HAVING count > 0`,
    params: paramsOf(filter),
  });
}

function conditions(kind: RecordKind, filter: RecordFilter, withType: boolean): string {
  const source: RecordSource = recordKinds[kind];
  const found = source.search.map((column) => `positionCaseInsensitiveUTF8(ifNull(${column}, ''), {text:String}) > 0`);
  return allOf(
    inGroups,
    source.where ?? "",
    withType && filter.types.length > 0 ? `${source.type} IN {types:Array(String)}` : "",
    filter.protocol === "" ? "" : `${source.protocol} = {protocol:String}`,
    filter.worker === null ? "" : `${source.worker} = {worker:String}`,
    filter.text === "" ? "" : `(${found.join(" OR ")})`,
    filter.fromNs === null ? "" : `${source.ts} >= {from_ns:Int64}`,
    filter.toNs === null ? "" : `${source.ts} < {to_ns:Int64}`,
  );
}

function paramsOf(filter: RecordFilter): Record<string, ParamValue> {
  return {
    groups: filter.groups,
    types: filter.types,
    protocol: filter.protocol,
    text: filter.text,
    ...(filter.worker === null ? {} : { worker: filter.worker }),
    ...(filter.fromNs === null ? {} : { from_ns: filter.fromNs }),
    ...(filter.toNs === null ? {} : { to_ns: filter.toNs }),
  };
}

function quoteName(column: string): string {
  return /^\w+$/.test(column) ? `\`${column}\`` : column;
}
