// GET /fields: what runs can be filtered, sorted and shown by.

import type { ApiContext } from "#api/context.ts";
import type { FieldInfo } from "#api/contract/run.ts";
import type { Handler } from "#api/handler.ts";
import type { FieldRecord } from "#api/reads.ts";
import { runFields } from "#query/runs/field.ts";

const times: ReadonlySet<string> = new Set(["start", "end", "updated"]);
const numbers: ReadonlySet<string> = new Set(["duration", "workers", "attempt", "index", "faults", "gaps"]);

export function fieldsRoute(context: ApiContext): Handler<"fields"> {
  return async ({ query, caller }) => {
    const asOf = context.asOf();
    const text = query.q ?? "";
    const records = await context.reads.fields(caller.workspace, text.replace(/^(params|metrics)\./, ""));
    const own = runFields
      .filter((name) => name.includes(text.toLowerCase()))
      .map(
        (name): FieldInfo => ({
          field: name,
          kind: "run",
          type: times.has(name) ? "time" : numbers.has(name) ? "number" : "text",
          runs: 0,
          examples: [],
        }),
      );
    return { fields: [...own, ...records.flatMap(toFields)], as_of: asOf };
  };
}

function toFields(record: FieldRecord): FieldInfo[] {
  const { name, phase, runs, numeric } = record;
  if (record.kind === "param") {
    const type = numeric === runs ? "number" : numeric === 0 ? "text" : "mixed";
    return [{ field: `params.${quote(name)}`, kind: "param", type, runs, examples: [...record.examples] }];
  }
  const key = phase === "" ? name : `${name}@${phase}`;
  return (["last", "min", "max"] as const).map((stat) => ({
    field: `metrics.${quote(key)}.${stat}`,
    kind: "metric",
    type: "number",
    runs,
    examples: [],
  }));
}

/** Names that the filter language could not read as they are stand in quotes. */
function quote(name: string): string {
  return /^[\w./@-]+$/.test(name) ? name : JSON.stringify(name);
}
