// Views of the page that people saved, as one of them sees them.

import { readViews } from "#store/reader/views.ts";
import type { Sources } from "./sources.ts";

export function listViews({ store }: Sources, workspace: string, owner: string, page: string | null) {
  return readViews(store, workspace, owner, page);
}
