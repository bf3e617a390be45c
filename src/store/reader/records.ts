// Records of a run as lists: logs, params, files, faults. Columns have the names of the API, so that rows are answers.
// A page continues after the last row of the one before, by arrival or by time.

import type { ParamValue } from "#store/params.ts";
import { jsonBool, jsonHas, jsonInt, jsonRaw, jsonText } from "#store/payload-sql.ts";
import { withTrait } from "#store/protocol-sql.ts";
import type { Store } from "#store/store.ts";
import { type Arrived, hasArrived, paramsOfArrived } from "./arrived-points.ts";
import { cutJson, cutText } from "./cut-text.ts";
import { allOf, inGroups } from "./group-scope.ts";
import {
  decimal,
  flag,
  int,
  nullable,
  type RowOf,
  readColumn,
  readMap,
  readRows,
  readValue,
  text,
  word,
} from "./native-rows.ts";
import { placeOrder, placeParams, rowPlaceSql, sortedBy } from "./record-place.ts";
import { inTimeWindow, type TimeWindow, windowParams } from "./time-window.ts";

/** A page of a run's records. */
export interface PageOf extends TimeWindow {
  readonly limit: number;
  /** The sort key of the last row of the page before. */
  readonly after: readonly string[] | null;
}

export interface LogFilter extends PageOf {
  readonly levels: readonly string[];
  readonly text: string;
  readonly workers: readonly string[];
  readonly stream: string;
  readonly descending: boolean;
  /** Only lines that came in these journal records. */
  readonly arrived?: Arrived;
  /** What is read of a message; null for what a list shows of any value. */
  readonly chars: number | null;
}

/** The journal record that a row came by, which tells rows of one moment apart. */
const arrival = { collector: text, jpos: decimal, jrow: int };

const logRow = {
  id: text,
  ts_ns: decimal,
  received_ns: decimal,
  worker: text,
  level: text,
  logger: text,
  msg: text,
  /** Characters of the whole message, when this is only its beginning; else 0. */
  cut_from: int,
  step: nullable(decimal),
  stream: text,
  fields: text,
  ...arrival,
};

export function readLogs(store: Store, filter: LogFilter) {
  const order = filter.descending ? "DESC" : "ASC";
  const shown = filter.chars === null ? cutText("l.msg") : `substringUTF8(l.msg, 1, ${filter.chars})`;
  return readRows(store, logRow, {
    sql: `SELECT ${rowPlaceSql} AS id, ts_ns, received_ns, worker, level, logger, ${shown} AS msg,
        toUInt32(if(length(${shown}) < length(l.msg), lengthUTF8(l.msg), 0)) AS cut_from, step, stream, ${cutJson("l.fields")} AS fields, collector, jpos, jrow
      FROM ${store.database}.logs AS l WHERE ${logConditions(filter, true)}
        ${filter.after === null ? "" : `AND (ts_ns, collector, jpos, jrow) ${filter.descending ? "<" : ">"} ${placeParams("a")}`}
      ORDER BY ts_ns ${order}, collector ${order}, jpos ${order}, jrow ${order} LIMIT {limit:UInt32}`,
    params: { ...logParams(filter), ...afterParams(filter.after) },
  });
}

/** How many match by level, whatever levels are asked for. */
export function readLogLevels(store: Store, filter: LogFilter) {
  return readMap(store, text, int, {
    sql: `SELECT level, toUInt32(count()) FROM ${store.database}.logs AS l
      WHERE ${logConditions(filter, false)} GROUP BY level`,
    params: logParams(filter),
  });
}

function logConditions(filter: LogFilter, withLevel: boolean): string {
  return allOf(
    inTimeWindow("ts_ns", filter),
    withLevel && filter.levels.length > 0 ? "level IN {levels:Array(String)}" : "",
    // The words are looked for in the index first; the whole text decides.
    filter.text === "" ? "" : "positionCaseInsensitiveUTF8(l.msg, {text:String}) > 0",
    filter.workers.length === 0 ? "" : "worker IN {workers:Array(String)}",
    filter.stream === "" ? "" : "stream = {stream:String}",
    filter.arrived === undefined ? "" : hasArrived,
  );
}

function logParams(filter: LogFilter): Record<string, ParamValue> {
  return {
    ...pageParams(filter),
    levels: filter.levels,
    text: filter.text,
    workers: filter.workers,
    stream: filter.stream,
    ...(filter.arrived === undefined ? {} : paramsOfArrived(filter.arrived)),
  };
}

const paramRow = {
  id: text,
  name: text,
  /** Its beginning, when it is longer than a list shows. */
  value: text,
  value_bytes: int,
  /** Tells whole values apart. */
  value_hash: decimal,
  worker: text,
  origin: word<"run_space" | "resource" | "param">(),
  ts_ns: decimal,
};

/** Every value that a run's params had, in order. */
export function readParams(store: Store, groups: readonly string[]) {
  return readRows(store, paramRow, {
    sql: `SELECT ${rowPlaceSql} AS id, name, ${cutJson("p.value")} AS value, toUInt32(length(p.value)) AS value_bytes,
        reinterpretAsInt64(cityHash64(p.value)) AS value_hash, worker,
        multiIf(seq = -1, 'run_space', seq = -2, 'resource', 'param') AS origin, ts_ns
      FROM ${store.database}.params AS p WHERE ${inGroups} ORDER BY name, ts_ns, seq, worker`,
    params: { groups },
  });
}

const metaSql = `if(${jsonHas("payload", "meta")}, ${jsonRaw("payload", "meta")}, '')`;

/** Events in the order of their own times; `tie` tells those of two workers apart that have one time and number. */
const eventOrder = { ts_ns: decimal, seq: decimal, tie: decimal };

const artifactRow = {
  name: text,
  type: text,
  path: text,
  strategy: text,
  size_bytes: nullable(decimal),
  checksum: text,
  worker: text,
  step: nullable(decimal),
  meta: text,
  ...eventOrder,
};

export function readArtifacts(store: Store, page: PageOf) {
  return readRows(store, artifactRow, {
    sql: `SELECT ${jsonText("payload", "name")} AS name, ${jsonText("payload", "type")} AS type,
        ${jsonText("payload", "path")} AS path, ${jsonText("payload", "upload")} AS strategy,
        ${jsonInt("payload", "size")} AS size_bytes, ${jsonText("payload", "checksum")} AS checksum,
        worker, ts_ns, ${jsonInt("payload", "step")} AS step,
        ${cutJson(metaSql)} AS meta, seq, ${tieSql} AS tie
      FROM ${store.database}.events AS e WHERE ${inGroups} AND ${withTrait("protocol", "workers")} AND e.type = 'artifact' ${afterTime(page)}
      ORDER BY ts_ns, seq, tie LIMIT {limit:UInt32}`,
    params: { ...pageParams(page), ...afterParams(page.after) },
  });
}

/** Those of these names that the run has a file of. */
export function readNamed(store: Store, groups: readonly string[], names: readonly string[]): Promise<string[]> {
  const name = jsonText("payload", "name");
  return readColumn(store, text, {
    sql: `SELECT DISTINCT ${name} AS name FROM ${store.database}.events
      WHERE ${inGroups} AND ${withTrait("protocol", "workers")} AND type = 'artifact' AND name IN {names:Array(String)}`,
    params: { groups, names },
  });
}

const checkpointRow = {
  step: nullable(decimal),
  path: text,
  epoch: nullable(decimal),
  metrics: text,
  is_best: flag,
  best_key: text,
  worker: text,
  meta: text,
  ...eventOrder,
};

export function readCheckpoints(store: Store, page: PageOf) {
  return readRows(store, checkpointRow, {
    sql: `SELECT ${jsonInt("payload", "step")} AS step, ${jsonText("payload", "path")} AS path,
        ${jsonInt("payload", "epoch")} AS epoch,
        ${jsonRaw("payload", "metrics")} AS metrics, toUInt8(${jsonBool("payload", "is_best")}) AS is_best,
        ${jsonText("payload", "best_key")} AS best_key, worker, ts_ns,
        ${cutJson(metaSql)} AS meta, seq, ${tieSql} AS tie
      FROM ${store.database}.events WHERE ${inGroups} AND ${withTrait("protocol", "workers")} AND type = 'checkpoint' ${afterTime(page)}
      ORDER BY ts_ns, seq, tie LIMIT {limit:UInt32}`,
    params: { ...pageParams(page), ...afterParams(page.after) },
  });
}

export interface FaultFilter extends Omit<PageOf, "groups"> {
  readonly workspace: string;
  /** Null: the whole workspace. */
  readonly groups: readonly string[] | null;
  readonly codes: readonly string[];
  readonly protocol: string;
}

const faultRow = {
  id: text,
  group_key: text,
  code: text,
  blast: word<"record" | "message" | "stream">(),
  protocol: text,
  transport: text,
  detail: text,
  place: text,
  received_ns: decimal,
  raw_bytes: int,
  raw_base64: text,
  ...arrival,
};
export type FaultRow = RowOf<typeof faultRow>;

export function readFaults(store: Store, filter: FaultFilter): Promise<FaultRow[]> {
  return readRows(store, faultRow, {
    sql: `SELECT fault_id AS id, group_key, code, blast, protocol, transport, detail, place, received_ns,
        toUInt32(length(raw)) AS raw_bytes, base64Encode(substring(raw, 1, 4096)) AS raw_base64, collector, jpos, jrow
      FROM ${store.database}.faults FINAL WHERE ${faultConditions(filter, true)}
        ${filter.after === null ? "" : `AND (${placeOrder}) < ${placeParams("a")}`}
      ORDER BY ${sortedBy("DESC")} LIMIT {limit:UInt32}`,
    params: faultParams(filter),
  });
}

/** How many match by code, whatever codes are asked for. */
export function readFaultCodes(store: Store, filter: FaultFilter) {
  return readMap(store, text, int, {
    sql: `SELECT code, toUInt32(count()) FROM ${store.database}.faults FINAL
      WHERE ${faultConditions(filter, false)} GROUP BY code`,
    params: faultParams(filter),
  });
}

function faultConditions(filter: FaultFilter, withCode: boolean): string {
  return allOf(
    "workspace = {workspace:String}",
    filter.groups === null ? "" : inGroups,
    filter.fromNs === null ? "" : "received_ns >= {from_ns:Int64}",
    filter.toNs === null ? "" : "received_ns < {to_ns:Int64}",
    withCode && filter.codes.length > 0 ? "code IN {codes:Array(String)}" : "",
    filter.protocol === "" ? "" : "protocol = {protocol:String}",
  );
}

function faultParams(filter: FaultFilter): Record<string, ParamValue> {
  return {
    ...pageParams({ ...filter, groups: filter.groups ?? [] }),
    ...afterParams(filter.after),
    workspace: filter.workspace,
    codes: filter.codes,
    protocol: filter.protocol,
  };
}

/** The bytes that could not be understood, as base64. */
export function readFaultRaw(store: Store, workspace: string, id: string): Promise<string | null> {
  return readValue(store, text, {
    sql: `SELECT base64Encode(raw) FROM ${store.database}.faults
      WHERE workspace = {workspace:String} AND fault_id = {id:String} LIMIT 1`,
    params: { workspace, id },
  });
}

const tieSql = "CAST(bitShiftRight(cityHash64(worker), 1), 'Int64')";

/** By the events' own time, so that the order they came in changes nothing. */
function afterTime(page: PageOf): string {
  return page.after === null ? "" : `AND (ts_ns, seq, ${tieSql}) > ({a1:Int64}, {a2:Int64}, {a3:Int64})`;
}

function afterParams(after: readonly string[] | null): Record<string, ParamValue> {
  return after === null ? {} : Object.fromEntries(after.map((value, at) => [`a${at + 1}`, value]));
}

function pageParams(page: PageOf): Record<string, ParamValue> {
  return { ...windowParams(page), limit: page.limit };
}
