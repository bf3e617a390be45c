// The audit, and how long runs are kept.

import { limitDefault, type Route } from "#api/context.ts";
import { anyText, decodeTexts, int64, nextCursor } from "#api/cursor.ts";
import { toAudit } from "#model/audit.ts";
import { readAudit, settingOf } from "#query/workspace.ts";

const retentionDays = "retention_days";
const dayMs = 86_400_000;

export const auditRoute: Route<"audit"> = async (context, { query, caller }) => {
  const limit = query.limit ?? limitDefault;
  const after = decodeTexts(query.cursor, int64, anyText, anyText);
  const entries = await readAudit(context.sources.store, caller.workspace, limit, after);
  return { entries, next: nextCursor(entries, limit, ({ at_ns, action, target }) => [at_ns, action, target]) };
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
