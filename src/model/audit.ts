// A line of the audit log: who did what to what, and the details.

import { formatExactly } from "#base/json/exact-integers.ts";
import type { StateChange } from "./state-tables.ts";

export function toAudit(
  workspace: string,
  author: string,
  action: string,
  subject: string,
  detail: unknown,
  atNs: bigint,
): StateChange {
  return toAuditOfText(workspace, author, action, subject, formatExactly(detail), atNs);
}

/** The same with the detail as JSON text. */
export function toAuditOfText(
  workspace: string,
  author: string,
  action: string,
  subject: string,
  detail: string,
  atNs: bigint,
): StateChange {
  const row = { workspace, at_ns: atNs, author, action, subject, detail, version: atNs };
  return { table: "audit", row };
}
