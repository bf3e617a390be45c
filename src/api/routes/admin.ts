// The audit, and how long runs are kept.

import { decodeCursor, encodeCursor, limitDefault, type Route, refuseCursor } from "#api/context.ts";
import { toAudit } from "#model/audit.ts";
import { readAudit, settingOf } from "#query/workspace.ts";

const retentionDays = "retention_days";
const dayMs = 86_400_000;

export const auditRoute: Route<"audit"> = async (context, { query, caller }) => {
  const limit = query.limit ?? limitDefault;
  const after = decodeCursor(query.cursor);
  if (after !== null && (after.length !== 3 || !/^\d{1,19}$/.test(String(after[0])))) throw refuseCursor();
  const entries = await readAudit(context.sources.store, caller.workspace, limit, after);
  const last = entries.at(-1);
  const next = last === undefined || entries.length < limit ? null : [last.at_ns, last.action, last.target];
  return { entries, next: encodeCursor(next) };
};

export const retentionRoute: Route<"retention"> = async (context, { caller }) => {
  const value = await settingOf(context.sources, caller.workspace, retentionDays);
  if (value !== null) return { days: JSON.parse(value) as number | null, set_by: "api" };
  const ageMs = context.configuredAgeMs(caller.workspace);
  return ageMs === null ? { days: null, set_by: "nobody" } : { days: ageMs / dayMs, set_by: "configuration" };
};

export const setRetentionRoute: Route<"setRetention"> = async (context, { body, caller }) => {
  const { workspace, name: author } = caller;
  const version = context.head().nowNs;
  const row = { workspace, name: retentionDays, value: JSON.stringify(body.days), author, version };
  const audit = toAudit(workspace, author, "retention_changed", workspace, body, version);
  await context.change([{ table: "settings", row }, audit], workspace, author);
  return { days: body.days, set_by: "api" };
};
