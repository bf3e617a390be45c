// Stored rows back to the event they came from, equal in every value. If the columns could not hold it, the row has the
// event's own text. Otherwise the order of fields and the form of numbers (1.0 or 1) are not kept.

import { formatJson } from "#base/json/format.ts";
import { membersInSteps, mergeMembers } from "#base/json/members.ts";
import { formatLongText, type Texts } from "#base/json/texts.ts";
import { protocolVersion } from "./messages.ts";

/** Whole numbers are bigints in memory, and decimal text from the store. */
type Whole = bigint | string | null;
type Cells<Name extends string> = { readonly [N in Name]: string };

/** What every stored row of an event has; other cells are named like their columns. */
interface StoredRow extends Cells<"type" | "run" | "worker" | "extra" | "raw"> {
  readonly seq: bigint;
  readonly tsNs: bigint;
}

export interface StoredMetric extends StoredRow, Cells<"key" | "phase" | "step_text" | "value_text" | "ctx"> {
  readonly step: Whole;
  readonly epoch: Whole;
  readonly value: number | null;
}

type StoredParam = StoredRow & Cells<"key" | "nested_key" | "value">;
type StoredLog = StoredRow & Cells<"level" | "msg" | "logger" | "fields"> & { readonly step: Whole };
/** The payload is strict JSON of `p`. */
type StoredOther = StoredRow & Cells<"payload">;

const pauseMetrics = 2048;

/** The JSON text of a single metric, or of a batch from all its rows in order. Like the functions below, it pauses in long ones. */
export function* rebuildMetrics(rows: readonly [StoredMetric, ...StoredMetric[]]): Generator<void, Texts> {
  const [first] = rows;
  if (first.raw !== "") return [first.raw];
  const payload = new Map<string, string | Texts>([["run_id", JSON.stringify(first.run)]]);
  if (first.type === "metric") {
    payload.set("key", JSON.stringify(first.key));
    payload.set("value", formatValue(first));
  } else payload.set("metrics", yield* formatMetrics(rows));
  if (first.step_text !== "") payload.set("step", first.step_text);
  else if (first.step !== null) payload.set("step", String(first.step));
  if (first.epoch !== null) payload.set("epoch", String(first.epoch));
  if (first.phase !== "" || first.ctx !== "") {
    const phase = new Map(first.phase === "" ? [] : [["phase", JSON.stringify(first.phase)]]);
    payload.set("ctx", yield* mergeMembers(phase, first.ctx));
  }
  return yield* format(first, payload);
}

/** If a key occurs twice, the last value counts. */
function* formatMetrics(rows: readonly StoredMetric[]): Generator<void, Texts> {
  const members = new Map<string, string>();
  for (let at = 0; at < rows.length; at++) {
    if (at % pauseMetrics === pauseMetrics - 1) yield;
    const row = rows[at] as StoredMetric;
    members.set(row.key, formatValue(row));
  }
  return yield* mergeMembers(members, "");
}

export function* rebuildParam(row: StoredParam): Generator<void, Texts> {
  if (row.raw !== "") return [row.raw];
  const payload = new Map<string, string | Texts>([
    ["run_id", JSON.stringify(row.run)],
    ["key", JSON.stringify(row.key)],
    ["value", row.value],
  ]);
  if (row.nested_key !== "") payload.set("nested_key", row.nested_key);
  return yield* format(row, payload);
}

export function* rebuildLog(row: StoredLog): Generator<void, Texts> {
  if (row.raw !== "") return [row.raw];
  const payload = new Map<string, string | Texts>([
    ["run_id", JSON.stringify(row.run)],
    ["level", JSON.stringify(row.level)],
  ]);
  payload.set("msg", yield* formatLongText(row.msg));
  if (row.logger !== "") payload.set("logger", JSON.stringify(row.logger));
  if (row.step !== null) payload.set("step", String(row.step));
  if (row.fields !== "") payload.set("fields", row.fields);
  return yield* format(row, payload);
}

export function* rebuildOther(row: StoredOther): Generator<void, Texts> {
  return row.raw === "" ? yield* format(row, row.payload) : [row.raw];
}

function formatValue({ value, value_text }: StoredMetric): string {
  if (value_text !== "") return value_text;
  // An integer of 64 bits is written with its digits, as it came. Anything larger was a float, and hundreds of digits would
  // be an integer to a reader that tells the two apart.
  if (value !== null && Number.isInteger(value) && !Number.isSafeInteger(value) && Math.abs(value) < 1e21)
    return String(BigInt(value));
  return formatJson(value, "lossless");
}

/** JSON text in a column goes into the event unchanged, so 0.10 stays 0.10 and 1e400 does not become Infinity. */
function* format(row: StoredRow, payload: ReadonlyMap<string, string | Texts> | string): Generator<void, Texts> {
  const extra = row.extra === "" ? new Map<string, string>() : yield* membersInSteps(row.extra);
  const m = new Map([
    ["seq", String(row.seq)],
    ["ts", String(row.tsNs / 1000n)],
  ]);
  if (row.worker !== "") m.set("wid", JSON.stringify(row.worker));
  const envelope = new Map<string, string | Texts>([
    ["v", String(protocolVersion)],
    ["t", JSON.stringify(row.type)],
    ["m", yield* mergeMembers(m, extra.get("m") ?? "")],
    ["p", typeof payload === "string" ? payload : yield* mergeMembers(payload, extra.get("p") ?? "")],
  ]);
  return yield* mergeMembers(envelope, extra.get("envelope") ?? "");
}
