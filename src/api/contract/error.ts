// The one shape of every refusal, whatever the route.

import type { Static } from "typebox";
import { Count, nullable } from "./scalar.ts";
import { Type } from "./schema.ts";

export const ErrorAnswer = Type.Object({
  code: Type.String({ description: "A stable code for programs, e.g. `run_not_found`, `filter_syntax`." }),
  message: Type.String({ description: "What happened, as a sentence." }),
  hint: Type.String({ description: "What to do about it; may be empty." }),
  at: nullable(
    Type.Object({
      part: Type.String({ description: "`path`, `query`, `body`, `header`, `filter`, `sql`." }),
      name: Type.Optional(Type.String({ description: "The parameter or JSON pointer." })),
      offset: Type.Optional(Count),
      length: Type.Optional(Count),
    }),
  ),
});
export type ErrorAnswer = Static<typeof ErrorAnswer>;
