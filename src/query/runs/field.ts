// Fields: the names by which runs are filtered, sorted, grouped and shown.
//   id name status … (of the run) · params.<name> · metrics.<key>[@<phase>].<first|last|min|max|count|nonfinite>

export const runFields = [
  "id",
  "name",
  "status",
  "status_raw",
  "protocol",
  "experiment",
  "tags",
  "host",
  "user",
  "commit",
  "branch",
  "start",
  "end",
  "duration",
  "updated",
  "workers",
  "launch",
  "attempt",
  "index",
  "parent",
  "archived",
  "notes",
  "error",
  "faults",
  "gaps",
] as const;
export type RunField = (typeof runFields)[number];

export const metricStats = ["first", "last", "min", "max", "count", "nonfinite"] as const;
export type MetricStat = (typeof metricStats)[number];

export type FieldRef =
  | { readonly kind: "run"; readonly name: RunField; readonly text: string }
  | { readonly kind: "tag"; readonly name: string; readonly text: string }
  | { readonly kind: "param"; readonly name: string; readonly text: string }
  | {
      readonly kind: "metric";
      readonly key: string;
      /** Null: whichever phase has it. */
      readonly phase: string | null;
      readonly stat: MetricStat;
      readonly text: string;
    };

/** Common other words for the same thing. */
const synonyms: Readonly<Record<string, RunField>> = {
  started: "start",
  ended: "end",
  took: "duration",
  exp: "experiment",
  protocols: "protocol",
  tag: "tags",
};

export function parseField(text: string): FieldRef | { mistake: string } {
  const bare = unquote(text);
  if (text.startsWith("params.") && text.length > 7) return { kind: "param", name: unquote(text.slice(7)), text };
  if (text.startsWith("tags.") && text.length > 5) return { kind: "tag", name: unquote(text.slice(5)), text };
  if (text.startsWith("metrics.") && text.length > 8) return parseMetric(text);
  const name = Object.hasOwn(synonyms, bare) ? synonyms[bare] : bare;
  if ((runFields as readonly string[]).includes(name as string)) return { kind: "run", name: name as RunField, text };
  return {
    mistake: `There is no field "${bare}". Fields are ${runFields.join(", ")}, params.<name>, metrics.<key>.last.`,
  };
}

function parseMetric(text: string): FieldRef | { mistake: string } {
  const rest = text.slice(8);
  const dot = rest.lastIndexOf(".");
  const word = dot < 0 ? "" : rest.slice(dot + 1);
  const hasStat = (metricStats as readonly string[]).includes(word);
  const name = unquote(hasStat ? rest.slice(0, dot) : rest);
  if (name === "") return { mistake: "A metric field is metrics.<key>.<first|last|min|max|count|nonfinite>." };
  const at = name.lastIndexOf("@");
  return {
    kind: "metric",
    key: at > 0 ? name.slice(0, at) : name,
    phase: at > 0 ? name.slice(at + 1) : null,
    stat: hasStat ? (word as MetricStat) : "last",
    text,
  };
}

function unquote(text: string): string {
  return text.replace(/"((?:[^"\\]|\\.)*)"/gs, (_, inner: string) => inner.replace(/\\(.)/gs, "$1"));
}
