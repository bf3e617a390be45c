// What is kept for a workspace as a whole: its audit, its settings and the views that people saved.

import { readAudit, readSettings, readViews } from "#store/reader/admin.ts";
import type { Sources } from "./sources.ts";

export { readAudit, readViews };

/** JSON text of a setting; null when nobody set it. */
export async function settingOf({ store }: Sources, workspace: string, name: string): Promise<string | null> {
  return (await readSettings(store, name)).find((row) => row.workspace === workspace)?.value ?? null;
}
