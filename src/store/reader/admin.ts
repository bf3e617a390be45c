// What administrators ask for: the audit and the settings.

import type { Store } from "#store/store.ts";
import { decimal, flag, readColumn, readRows, text, word } from "./native-rows.ts";

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

export function readWorkspaces(store: Store): Promise<string[]> {
  const sql = `SELECT DISTINCT toString(workspace) AS workspace FROM ${store.database}.groups`;
  return readColumn(store, text, { sql });
}

const viewRow = {
  page: word<"runs" | "charts" | "compare">(),
  name: text,
  search: text,
  shared: flag,
  by: text,
  at_ns: decimal,
};

const viewsMax = 1000;

/** Those that all of the workspace share, then an owner's own. */
export function readViews(store: Store, workspace: string, owner: string, page: string | null) {
  return readRows(store, viewRow, {
    sql: `SELECT toString(page) AS page, name, search, owner = '' AS shared, author AS by, version AS at_ns
      FROM ${store.database}.saved_views FINAL
      WHERE workspace = {workspace:String} AND owner IN ('', {owner:String}) AND deleted = 0
        ${page === null ? "" : "AND page = {page:String}"}
      ORDER BY page, shared DESC, name LIMIT ${viewsMax}`,
    params: { workspace, owner, ...(page === null ? {} : { page }) },
  });
}
