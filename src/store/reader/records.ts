// Records of a run as lists: logs, params, files, faults. Column names are those of the API, so that rows are
// answers; a page goes on behind the last row of the one before, by arrival or by time.

import type { LogFilter, PageOf } from "#model/page.ts";
import type { ParamValue } from "#store/params.ts";
import { jsonBool, jsonHas, jsonInt, jsonRaw, jsonText } from "#store/payload-sql.ts";
import type { Query } from "#store/store.ts";

const inGroups = "group_key IN {groups:Array(String)}";

export function logsQuery(database: string, filter: LogFilter): Query {
  const order = filter.descending ? "DESC" : "ASC";
  return {
    sql: `SELECT concat(toString(jpos), '.', toString(jrow)) AS id, ts_ns, received_ns, worker, level, logger, msg, step,
        stream, fields, jpos, jrow
      FROM ${database}.logs WHERE ${logConditions(filter, true)}
        ${filter.after === null ? "" : `AND (ts_ns, jpos, jrow) ${filter.descending ? "<" : ">"} ({a1:Int64}, {a2:Int64}, {a3:UInt32})`}
      ORDER BY ts_ns ${order}, jpos ${order}, jrow ${order} LIMIT {limit:UInt32}`,
    params: { ...logParams(filter), ...afterParams(filter.after) },
  };
}

export function logLevelsQuery(database: string, filter: LogFilter): Query {
  return {
    sql: `SELECT level, toUInt32(count()) AS count FROM ${database}.logs WHERE ${logConditions(filter, false)} GROUP BY level`,
    params: logParams(filter),
  };
}

function logConditions(filter: LogFilter, withLevel: boolean): string {
  return [
    inGroups,
    ...windowConditions(filter, "ts_ns"),
    withLevel && filter.levels.length > 0 ? "level IN {levels:Array(String)}" : "",
    // The words are looked for in the index first; the whole text decides.
    filter.text === "" ? "" : "positionCaseInsensitiveUTF8(msg, {text:String}) > 0",
    filter.workers.length === 0 ? "" : "worker IN {workers:Array(String)}",
    filter.stream === "" ? "" : "stream = {stream:String}",
    filter.fromStep === null ? "" : "step >= {from_step:Int64}",
    filter.toStep === null ? "" : "step <= {to_step:Int64}",
  ]
    .filter((condition) => condition !== "")
    .join(" AND ");
}

function logParams(filter: LogFilter): Record<string, ParamValue> {
  return {
    ...pageParams(filter),
    levels: [...filter.levels],
    text: filter.text,
    workers: [...filter.workers],
    stream: filter.stream,
    ...(filter.fromStep === null ? {} : { from_step: filter.fromStep }),
    ...(filter.toStep === null ? {} : { to_step: filter.toStep }),
  };
}

export function paramsQuery(database: string, groups: readonly string[]): Query {
  return {
    sql: `SELECT name, value, value_num, worker, if(seq = -1, 'run_space', 'param') AS origin, ts_ns FROM ${database}.params
      WHERE ${inGroups} ORDER BY name, ts_ns, seq, worker`,
    params: { groups: [...groups] },
  };
}

export function artifactsQuery(database: string, page: PageOf): Query {
  return {
    sql: `SELECT ${jsonText("payload", "name")} AS name, ${jsonText("payload", "type")} AS type,
        ${jsonText("payload", "path")} AS path, ${jsonText("payload", "upload")} AS strategy,
        ${jsonInt("payload", "size")} AS size_bytes, ${jsonText("payload", "checksum")} AS checksum,
        worker, ts_ns, ${jsonInt("payload", "step")} AS step,
        if(${jsonHas("payload", "meta")}, ${jsonRaw("payload", "meta")}, '') AS meta, seq, ${tieSql} AS tie
      FROM ${database}.events AS e WHERE ${inGroups} AND protocol = 'xtrack' AND e.type = 'artifact' ${afterTime(page)}
      ORDER BY ts_ns, seq, tie LIMIT {limit:UInt32}`,
    params: { ...pageParams(page), ...afterParams(page.after) },
  };
}

export function checkpointsQuery(database: string, page: PageOf): Query {
  return {
    sql: `SELECT ${jsonInt("payload", "step")} AS step, ${jsonText("payload", "path")} AS path,
        ${jsonInt("payload", "epoch")} AS epoch,
        ${jsonRaw("payload", "metrics")} AS metrics, ${jsonBool("payload", "is_best")} AS is_best,
        ${jsonText("payload", "best_key")} AS best_key, worker, ts_ns,
        if(${jsonHas("payload", "meta")}, ${jsonRaw("payload", "meta")}, '') AS meta, seq, ${tieSql} AS tie
      FROM ${database}.events WHERE ${inGroups} AND protocol = 'xtrack' AND type = 'checkpoint' ${afterTime(page)}
      ORDER BY ts_ns, seq, tie LIMIT {limit:UInt32}`,
    params: { ...pageParams(page), ...afterParams(page.after) },
  };
}

export interface FaultFilter extends Omit<PageOf, "groups"> {
  readonly workspace: string;
  /** Null: the whole workspace. */
  readonly groups: readonly string[] | null;
  readonly codes: readonly string[];
  readonly protocol: string;
}

export function faultsQuery(database: string, filter: FaultFilter): Query {
  return {
    sql: `SELECT fault_id AS id, group_key, code, blast, protocol, transport, detail, place, received_ns,
        toUInt32(length(raw)) AS raw_bytes, base64Encode(substring(raw, 1, 4096)) AS raw_base64, jpos, jrow
      FROM ${database}.faults FINAL WHERE ${faultConditions(filter, true)}
        ${filter.after === null ? "" : "AND (received_ns, jpos, jrow) < ({a1:Int64}, {a2:Int64}, {a3:UInt32})"}
      ORDER BY received_ns DESC, jpos DESC, jrow DESC LIMIT {limit:UInt32}`,
    params: faultParams(filter),
  };
}

export function faultCodesQuery(database: string, filter: FaultFilter): Query {
  return {
    sql: `SELECT code, toUInt32(count()) AS count FROM ${database}.faults FINAL WHERE ${faultConditions(filter, false)}
      GROUP BY code`,
    params: faultParams(filter),
  };
}

function faultConditions(filter: FaultFilter, withCode: boolean): string {
  return [
    "workspace = {workspace:String}",
    filter.groups === null ? "" : inGroups,
    ...windowConditions(filter, "received_ns"),
    withCode && filter.codes.length > 0 ? "code IN {codes:Array(String)}" : "",
    filter.protocol === "" ? "" : "protocol = {protocol:String}",
  ]
    .filter((condition) => condition !== "")
    .join(" AND ");
}

function faultParams(filter: FaultFilter): Record<string, ParamValue> {
  return {
    ...pageParams({ ...filter, groups: filter.groups ?? [] }),
    ...afterParams(filter.after),
    workspace: filter.workspace,
    codes: [...filter.codes],
    protocol: filter.protocol,
  };
}

export function faultRawQuery(database: string, workspace: string, id: string): Query {
  return {
    sql: `SELECT base64Encode(raw) AS raw FROM ${database}.faults WHERE workspace = {workspace:String} AND fault_id = {id:String} LIMIT 1`,
    params: { workspace, id },
  };
}

function windowConditions(page: { fromNs: bigint | null; toNs: bigint | null }, column: string): string[] {
  return [
    page.fromNs === null ? "" : `${column} >= {from_ns:Int64}`,
    page.toNs === null ? "" : `${column} < {to_ns:Int64}`,
  ];
}

/** Tells events of two workers apart that have one time and one number. */
const tieSql = "toInt64(bitShiftRight(cityHash64(worker), 1))";

/** By the events' own time, so that the order they came in changes nothing. */
function afterTime(page: PageOf): string {
  return page.after === null ? "" : `AND (ts_ns, seq, ${tieSql}) > ({a1:Int64}, {a2:Int64}, {a3:Int64})`;
}

function afterParams(after: readonly string[] | null): Record<string, ParamValue> {
  return after === null ? {} : Object.fromEntries(after.map((value, at) => [`a${at + 1}`, value]));
}

function pageParams(page: PageOf): Record<string, ParamValue> {
  return {
    groups: [...page.groups],
    limit: page.limit,
    ...(page.fromNs === null ? {} : { from_ns: page.fromNs }),
    ...(page.toNs === null ? {} : { to_ns: page.toNs }),
  };
}
