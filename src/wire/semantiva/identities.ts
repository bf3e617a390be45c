// The identities of a run space, as the real launcher computes them: a hash of its plan, a hash of its inputs, and the
// id of a launch.
//
//   plan    (RSCF v1)  SHA-256 of `semantiva:rscf1:` + the spec as compact JSON with sorted keys
//   inputs  (RSM v1)   SHA-256 of `semantiva:rsm1:` + {"spec_id":…,"inputs":[…]} as compact JSON, keys in that order
//   launch             SHA-256 of `semantiva:rsl1:` + (inputs id, else plan id) + `:` + idempotency key

import { createHash, randomUUID } from "node:crypto";
import { compareText } from "#base/compare-text.ts";
import { formatPythonJson, type PythonStyle, type PythonValue } from "./python-json.ts";

export interface RunSpaceInput {
  readonly role: string;
  readonly uri: string;
  /** 64 hex digits. */
  readonly sha256: string;
  readonly sizeBytes?: number;
}

export interface LaunchNaming {
  readonly planId: string;
  readonly inputsId?: string | undefined;
  readonly idempotencyKey?: string | undefined;
  /** An id of the caller's choice; an idempotency key goes before it. */
  readonly launchId?: string | undefined;
}

/** No blanks, nothing escaped that need not be. */
const compact: PythonStyle = { itemEnd: ",", keyEnd: ":", text: JSON.stringify };

export function toPlanId(spec: PythonValue): string {
  return sha256(`semantiva:rscf1:${formatPythonJson(toUnixLines(spec), compact)}`);
}

/** Undefined when there are no inputs: then the record has no inputs id. */
export function toInputsId(planId: string, inputs: readonly RunSpaceInput[]): string | undefined {
  if (inputs.length === 0) return undefined;
  const sorted = inputs.toSorted((a, b) => compareText(a.role, b.role) || compareText(a.uri, b.uri));
  const listed = sorted.map(({ role, uri, sha256: digest, sizeBytes }) => {
    const size = sizeBytes === undefined ? "" : `,"size_bytes":${sizeBytes}`;
    return `{"role":${JSON.stringify(role)},"uri":${JSON.stringify(uri)},"sha256":${JSON.stringify(digest)}${size}}`;
  });
  return sha256(`semantiva:rsm1:{"spec_id":${JSON.stringify(planId)},"inputs":[${listed.join(",")}]}`);
}

export function toLaunchId({ planId, inputsId, idempotencyKey, launchId }: LaunchNaming): string {
  if (idempotencyKey !== undefined) return sha256(`semantiva:rsl1:${inputsId ?? planId}:${idempotencyKey}`);
  return launchId ?? randomUUID().replaceAll("-", "");
}

/** CR and CRLF in values become LF, so that a spec has one id on every platform. Keys stay as they are. */
function toUnixLines(value: PythonValue): PythonValue {
  if (typeof value === "string") return value.replaceAll(/\r\n?/g, "\n");
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item: PythonValue) => toUnixLines(item));
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  const entries = Object.entries(value).map(([key, member]) => [key, toUnixLines(member)]);
  return Object.fromEntries(entries) as PythonValue;
}

function sha256(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex");
}
