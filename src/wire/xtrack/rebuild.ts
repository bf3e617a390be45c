// Stored rows back to the event they came from, equal in every value. Where columns could not hold it, the row has the
// event's own text. Order of fields and the writing of numbers (1.0 or 1) are not kept otherwise.

import { formatJson } from "#base/json/format.ts";
import { membersOf } from "#base/json/members.ts";
import { type JsonObject, type JsonValue, NumberText } from "#base/json/value.ts";
import { protocolVersion } from "./messages.ts";

/** What every stored row of an event has. */
export interface StoredRow {
  readonly type: string;
  readonly run: string;
  readonly worker: string;
  readonly seq: bigint;
  readonly tsNs: bigint;
  readonly extra: string;
  readonly raw: string;
}

export interface StoredMetric extends StoredRow {
  readonly type: "metric" | "metric_batch";
  readonly key: string;
  readonly phase: string;
  readonly step: bigint | null;
  readonly stepText: string;
  readonly epoch: bigint | null;
  readonly value: number | null;
  readonly valueText: string;
  readonly ctx: string;
}

export interface StoredParam extends StoredRow {
  readonly type: "param";
  readonly key: string;
  readonly nestedKey: string;
  readonly value: string;
}

export interface StoredLog extends StoredRow {
  readonly type: "log";
  readonly level: string;
  readonly msg: string;
  readonly logger: string;
  readonly step: bigint | null;
  readonly fields: string;
}

export interface StoredOther extends StoredRow {
  /** Strict JSON of `p`. */
  readonly payload: string;
}

/** The JSON text of a single metric, or of a batch from all its rows in order. */
export function rebuildMetrics(rows: readonly [StoredMetric, ...StoredMetric[]]): string {
  const [first] = rows;
  if (first.raw !== "") return first.raw;
  const payload: JsonObject = { run_id: first.run };
  if (first.type === "metric") {
    payload["key"] = first.key;
    payload["value"] = toValue(first);
  } else payload["metrics"] = Object.fromEntries(rows.map((row) => [row.key, toValue(row)]));
  if (first.stepText !== "") payload["step"] = asItStands(first.stepText);
  else if (first.step !== null) payload["step"] = first.step;
  if (first.epoch !== null) payload["epoch"] = first.epoch;
  if (first.phase !== "" || first.ctx !== "") {
    const phase: JsonObject = first.phase === "" ? {} : { phase: first.phase };
    payload["ctx"] = { ...phase, ...(first.ctx === "" ? {} : membersAsTheyStand(first.ctx)) };
  }
  return format(first, payload);
}

export function rebuildParam(row: StoredParam): string {
  if (row.raw !== "") return row.raw;
  const payload: JsonObject = { run_id: row.run, key: row.key, value: asItStands(row.value) };
  if (row.nestedKey !== "") payload["nested_key"] = asItStands(row.nestedKey);
  return format(row, payload);
}

export function rebuildLog(row: StoredLog): string {
  if (row.raw !== "") return row.raw;
  const payload: JsonObject = { run_id: row.run, level: row.level, msg: row.msg };
  if (row.logger !== "") payload["logger"] = row.logger;
  if (row.step !== null) payload["step"] = row.step;
  if (row.fields !== "") payload["fields"] = asItStands(row.fields);
  return format(row, payload);
}

export function rebuildOther(row: StoredOther): string {
  return row.raw === "" ? format(row, asItStands(row.payload)) : row.raw;
}

function toValue(row: StoredMetric): JsonValue {
  if (row.valueText !== "") return asItStands(row.valueText);
  // A large integer is written with its digits, as it came.
  return Number.isInteger(row.value) && !Number.isSafeInteger(row.value) ? BigInt(row.value ?? 0) : row.value;
}

function format(row: StoredRow, payload: JsonObject | NumberText): string {
  const extra = row.extra === "" ? new Map<string, string>() : membersOf(row.extra);
  const section = (name: string): JsonObject => membersAsTheyStand(extra.get(name) ?? "{}");
  const m: JsonObject = { seq: row.seq, ts: row.tsNs / 1000n };
  if (row.worker !== "") m["wid"] = row.worker;
  const envelope = {
    v: protocolVersion,
    t: row.type,
    m: { ...m, ...section("m") },
    p: payload instanceof NumberText ? payload : { ...payload, ...section("p") },
    ...section("envelope"),
  };
  return formatJson(envelope, "lossless");
}

/** JSON text that a column holds goes into the event as it is, with 0.10 still 0.10 and 1e400 no Infinity. */
function asItStands(text: string): NumberText {
  return new NumberText(text);
}

function membersAsTheyStand(text: string): JsonObject {
  return Object.fromEntries([...membersOf(text)].map(([name, value]) => [name, asItStands(value)]));
}
