// What administrators ask for: the audit and the settings.

import type { Query } from "#store/store.ts";

export function auditQuery(
  database: string,
  workspace: string,
  limit: number,
  after: readonly (string | number | null)[] | null,
): Query {
  const behind = after === null ? "" : "AND (at_ns, action, subject) < ({at:Int64}, {action:String}, {subject:String})";
  const [at, action, subject] = (after ?? []).map(String);
  return {
    sql: `SELECT at_ns, author AS by, toString(action) AS action, subject AS target, detail
      FROM ${database}.audit FINAL WHERE workspace = {workspace:String} ${behind}
      ORDER BY at_ns DESC, action DESC, subject DESC LIMIT {limit:UInt32}`,
    params: {
      workspace,
      limit,
      ...(after === null ? {} : { at: at ?? "", action: action ?? "", subject: subject ?? "" }),
    },
  };
}

export interface SettingRow {
  readonly workspace: string;
  readonly value: string;
}

/** Workspaces that have runs. */
export function workspacesQuery(database: string): Query {
  return { sql: `SELECT DISTINCT toString(workspace) AS workspace FROM ${database}.groups` };
}

/** In every workspace. */
export function settingsQuery(database: string, name: string): Query {
  return {
    sql: `SELECT workspace, value FROM ${database}.settings FINAL WHERE name = {name:String}`,
    params: { name },
  };
}
