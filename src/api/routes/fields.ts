// GET /fields: what runs can be filtered, sorted and shown by.

import type { Route } from "#api/context.ts";
import { listFields } from "#query/runs/fields.ts";

export const fieldsRoute: Route<"fields"> = async (context, { query, caller, asOf }) => {
  return { fields: await listFields(context.sources, caller.workspace, query.q ?? ""), as_of: asOf };
};
