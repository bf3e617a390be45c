// A line of the audit: who did what to what, with what else is to be known of it.

import type { StateChange } from "./state-tables.ts";

export function toAudit(
  workspace: string,
  author: string,
  action: string,
  subject: string,
  detail: unknown,
  atNs: bigint,
): StateChange {
  const row = { workspace, at_ns: atNs, author, action, subject, detail: JSON.stringify(detail), version: atNs };
  return { table: "audit", row };
}
