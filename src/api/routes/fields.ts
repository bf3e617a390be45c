// GET /fields: what runs can be filtered, sorted and shown by.

import type { ApiContext } from "#api/context.ts";
import type { Handler } from "#api/handler.ts";
import { listFields } from "#query/runs/fields.ts";

export function fieldsRoute(context: ApiContext): Handler<"fields"> {
  return async ({ query, caller }) => {
    const asOf = context.asOf();
    return { fields: await listFields(context.sources, caller.workspace, query.q ?? ""), as_of: asOf };
  };
}
