// The audit and the settings of a workspace.

import { readAudit, readSettings } from "#store/reader/admin.ts";
import type { Sources } from "./sources.ts";

export interface AuditPage {
  readonly workspace: string;
  readonly limit: number;
  /** The time, action and target of the last entry of the page before. */
  readonly after: readonly (string | number | null)[] | null;
}

/** The newest first. */
export function listAudit({ store }: Sources, { workspace, limit, after }: AuditPage) {
  return readAudit(store, workspace, limit, after);
}

/** JSON text of a setting; null when nobody set it. */
export async function settingOf({ store }: Sources, workspace: string, name: string): Promise<string | null> {
  return (await readSettings(store, name)).find((row) => row.workspace === workspace)?.value ?? null;
}
