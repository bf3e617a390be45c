// Views of the page that people gave a name: for themselves, or for all of the workspace.

import type { Static } from "typebox";
import { TimeNs, word } from "./scalar.ts";
import { strict, Type } from "./schema.ts";

/** The pages that a view can be of. */
export const viewPages = ["runs", "charts", "compare"] as const;
export const ViewPage = word(viewPages);

export const SavedView = Type.Object({
  page: ViewPage,
  name: Type.String(),
  search: Type.String({ description: "The query part of the page's URL, which describes the whole view." }),
  shared: Type.Boolean({ description: "Whether everybody in the workspace sees it, or only the key that saved it." }),
  by: Type.String(),
  at_ns: TimeNs,
});
export type SavedView = Static<typeof SavedView>;

export const ViewsQuery = Type.Object({ page: Type.Optional(ViewPage) });
export const ViewsAnswer = Type.Object({ views: Type.Array(SavedView) });

export const ViewPath = Type.Object({ page: ViewPage, name: Type.String({ minLength: 1, maxLength: 200 }) });
export const ViewBody = strict({ search: Type.String({ maxLength: 8192 }), shared: Type.Boolean() });
