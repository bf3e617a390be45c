// What runs can be filtered, sorted and shown by.

import type { FieldInfo } from "#api/contract/run.ts";
import type { Sources } from "#query/sources.ts";
import { type FieldRow, readFields } from "#store/reader/run-details.ts";
import { quoteText, runFields } from "./field.ts";

const times: ReadonlySet<string> = new Set(["start", "end", "updated"]);
const numbers: ReadonlySet<string> = new Set(["duration", "workers", "attempt", "index", "faults", "gaps"]);

/** Those whose names contain a text; the fields of the run itself come first. */
export async function listFields({ store }: Sources, workspace: string, part: string): Promise<FieldInfo[]> {
  const rows = await readFields(store, workspace, part.replace(/^(params|metrics)\./, ""));
  const own = runFields
    .filter((name) => name.includes(part.toLowerCase()))
    .map(
      (name): FieldInfo => ({
        field: name,
        kind: "run",
        type: times.has(name) ? "time" : numbers.has(name) ? "number" : "text",
        runs: 0,
        examples: [],
      }),
    );
  return [...own, ...rows.flatMap(toFields)];
}

function toFields(record: FieldRow): FieldInfo[] {
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
  return /^[\w./@-]+$/.test(name) ? name : quoteText(name);
}
