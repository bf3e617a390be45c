// What administrators ask for: the audit and the settings.

import type { Store } from "#store/store.ts";
import { decimal, readColumn, readRows, text } from "./native-rows.ts";

const auditRow = { at_ns: decimal, by: text, action: text, target: text, detail: text };

/** The newest first. `after` is the time, action and target of the last entry of the page before. */
export function readAudit(store: Store, workspace: string, limit: number, after: readonly string[] | null) {
  const behind = after === null ? "" : "AND (at_ns, action, subject) < ({at:Int64}, {action:String}, {subject:String})";
  const [at = "", action = "", subject = ""] = after ?? [];
  return readRows(store, auditRow, {
    sql: `SELECT at_ns, author AS by, toString(action) AS action, subject AS target, detail
      FROM ${store.database}.audit FINAL WHERE workspace = {workspace:String} ${behind}
      ORDER BY at_ns DESC, action DESC, subject DESC LIMIT {limit:UInt32}`,
    params: { workspace, limit, ...(after === null ? {} : { at, action, subject }) },
  });
}

/** A setting in every workspace that has it; its value is JSON text. */
export function readSettings(store: Store, name: string) {
  return readRows(
    store,
    { workspace: text, value: text },
    {
      sql: `SELECT workspace, value FROM ${store.database}.settings FINAL WHERE name = {name:String}`,
      params: { name },
    },
  );
}

/** Workspaces that have runs. */
export function readWorkspaces(store: Store): Promise<string[]> {
  const sql = `SELECT DISTINCT toString(workspace) AS workspace FROM ${store.database}.groups`;
  return readColumn(store, text, { sql });
}
