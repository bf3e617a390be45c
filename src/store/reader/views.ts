// Views of the page that people saved.

import type { Store } from "#store/store.ts";
import { decimal, flag, readRows, text, word } from "./native-rows.ts";

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
