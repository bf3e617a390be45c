// One line's bytes → a Message, or the reason why not. The bytes are the record: the message only interprets them, and the
// bytes are stored with it.

import { type JsonResult, parseJson, parseJsonInSteps } from "#base/json/parse.ts";
import { atPointer, locatePointer } from "#base/json/pointer.ts";
import {
  defaultJsonLimits,
  isJsonObject,
  type JsonLimits,
  type JsonObject,
  type JsonValue,
  oddity,
} from "#base/json/value.ts";
import type { FaultCode } from "#model/fault.ts";
import type { Registry, Strictness, Violation } from "./registry.ts";

export interface Message {
  readonly type: string;
  /** The registry has a schema for the type, and the record keeps it. */
  readonly known: boolean;
  /** From the header, or from where the type keeps it. For run_space_* lines this is the launch id, not a run. */
  readonly runId: string;
  /** The line has its own header `run_id`. */
  readonly hasHeader: boolean;
  readonly record: JsonObject;
  /** Bits of `oddity`. */
  readonly oddities: number;
}

export interface LineFault {
  readonly code: FaultCode;
  readonly detail: string;
  /** Byte offset in the line of what is wrong. */
  readonly offset: number;
  /** JSON pointer, '' for the record itself or when there is none. */
  readonly pointer: string;
  /** The schema keyword that is broken, '' when the line is no record at all. */
  readonly rule: string;
  /** What the record calls its run, as far as it can be read; '' when it cannot. */
  readonly runId: string;
}

export type DecodedLine =
  | { readonly ok: true; readonly message: Message }
  | { readonly ok: false; readonly faults: readonly [LineFault, ...LineFault[]] };

export interface DecodeOptions {
  readonly strictness?: Strictness;
  /** Name every broken rule instead of the first. */
  readonly all?: boolean;
  readonly limits?: JsonLimits;
}

/** Longer lines are judged only up to their first broken rule: a list of a million wrong items would break a million. */
const thoroughBytesMax = 1024 * 1024;

export function decodeLine(line: Uint8Array, registry: Registry, options: DecodeOptions = {}): DecodedLine {
  return judgeLine(line, parseJson(line, options.limits), registry, options);
}

/** The same with pauses, for a long line. */
export function* decodeLineInSteps(
  line: Uint8Array,
  registry: Registry,
  options: DecodeOptions = {},
): Generator<void, DecodedLine> {
  const parsed = yield* parseJsonInSteps(line, options.limits ?? defaultJsonLimits);
  yield;
  return judgeLine(line, parsed, registry, options);
}

function judgeLine(line: Uint8Array, parsed: JsonResult, registry: Registry, options: DecodeOptions): DecodedLine {
  const { strictness = "driver", all = false } = options;
  if (!parsed.ok) {
    const { kind, reason, offset } = parsed.fault;
    const code = kind === "depth" ? "line_too_deep" : kind === "size" ? "line_too_long" : "line_not_json";
    return refuse(code, reason, offset);
  }
  const { value: record, oddities } = parsed;
  if (!isJsonObject(record)) return refuse("line_not_object", `the line is ${nameKind(record)}, not an object`, 0);
  const isPlain = (oddities & oddity.bigInteger) === 0;
  const judgement = registry.judge(record, strictness, all && line.length <= thoroughBytesMax, isPlain);
  const { record_type: type } = record;
  if (judgement.ok) {
    const { known, runId, hasHeader } = judgement;
    return { ok: true, message: { type: type as string, known, runId, hasHeader, record, oddities } };
  }
  const code = judgement.stage === "header" ? "semantiva_header" : "semantiva_schema";
  const runId = guessRunId(record);
  const faults = judgement.violations.map((violation) => toFault(line, code, type, violation, runId));
  return { ok: false, faults: faults as unknown as [LineFault, ...LineFault[]] };
}

function toFault(
  line: Uint8Array,
  code: FaultCode,
  type: JsonValue | undefined,
  violation: Violation,
  runId: string,
): LineFault {
  const { pointer, rule, message } = violation;
  const what = typeof type === "string" ? type : "record";
  const detail = `${what}${pointer === "" ? "" : ` ${pointer}`} ${message} (${rule})`;
  return { code, detail, offset: locatePointer(line, pointer), pointer, rule, runId };
}

function refuse(code: FaultCode, detail: string, offset: number): DecodedLine {
  return { ok: false, faults: [{ code, detail, offset, pointer: "", rule: "", runId: "" }] };
}

/** A record that breaks its schema can still name its run, so that its fault is shown there. */
function guessRunId(record: JsonObject): string {
  const { record_type: type } = record;
  if (typeof type === "string" && type.startsWith("run_space_")) return "";
  const runId = atPointer(record, "/run_id") ?? atPointer(record, "/identity/run_id");
  return typeof runId === "string" ? runId : "";
}

function nameKind(value: JsonValue): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  return typeof value === "string" ? "a string" : typeof value === "boolean" ? "a boolean" : "a number";
}
