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
      /** `recall@10` may be a phase of `recall` or a name of its own: a run that has a metric of this name means that. */
      readonly whole: string | null;
      readonly stat: MetricStat;
      readonly text: string;
    };

export type MetricField = Extract<FieldRef, { kind: "metric" }>;

/** Other common words for fields. */
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
  // An empty name can only be meant where it stands in quotes.
  if (name === "" && !rest.startsWith('"'))
    return { mistake: "A metric field is metrics.<key>.<first|last|min|max|count|nonfinite>." };
  return { kind: "metric", ...splitPhase(name), stat: hasStat ? (word as MetricStat) : "last", text };
}

/** `<key>` or `<key>@<phase>`. */
export function splitPhase(name: string): Pick<MetricField, "key" | "phase" | "whole"> {
  const at = name.lastIndexOf("@");
  if (at <= 0) return { key: name, phase: null, whole: null };
  return { key: name.slice(0, at), phase: name.slice(at + 1), whole: name };
}

/** A text between quotes, as the filter language reads it back. */
export function quoteText(text: string): string {
  return `"${text.replace(/["\\]/g, "\\$&")}"`;
}

function unquote(text: string): string {
  return text.replace(/"((?:[^"\\]|\\.)*)"/gs, (_, inner: string) => inner.replace(/\\(.)/gs, "$1"));
}
