// What the runs table shows, all of it in the URL: a view is a link.

import type { FieldInfo } from "#api/contract/run.ts";
import { asList, asText, toSearchParser } from "../../app/search.ts";

export const parseRunsSearch = toSearchParser({
  filter: asText,
  /** Fields, with `-` in front for descending. */
  sort: asList,
  /** Fields in the usual layout, or with `name` in front the whole layout; see grid-columns.ts. */
  columns: asList,
  /** Columns that stay in place when scrolling sideways. */
  pinned: asList,
  /** `field:pixels`. */
  widths: asList,
  group: asText,
  spark: asText,
  archived: (value) => (["show", "only"] as const).find((word) => word === asText(value)),
});
export type RunsSearch = ReturnType<typeof parseRunsSearch>;

/** Columns worth showing before anyone chose: parameters that many runs have and that vary, then losses and scores. */
export function chooseColumns(fields: readonly FieldInfo[]): string[] {
  const params = fields
    .filter((field) => field.kind === "param" && field.examples.length > 1)
    .sort((a, b) => worth(b) - worth(a))
    .slice(0, 3);
  const metrics = fields
    .filter((field) => field.kind === "metric" && field.field.endsWith(".last"))
    .sort((a, b) => weight(b) - weight(a))
    .slice(0, 2);
  return [...params, ...metrics].map((field) => field.field);
}

/** Choices of a person tell runs apart; what only numbers or names them is different in every run and tells nothing. */
function worth({ field, runs, examples }: FieldInfo): number {
  const name = field.replace(/^params\./, "");
  const known = /(^|[._/-])(lr|learning_rate|optimi[sz]er|batch|width|depth|layers|dropout|weight_decay|model|arch)/i;
  const naming = /(^|[._/-])(seed|id|uuid|name|path|dir|file|host|port|rank|device|time|date|version)s?$/i;
  return runs * Math.min(examples.length, 4) * (known.test(name) ? 4 : naming.test(name) ? 0.1 : 1);
}

/** What runs can be grouped by: their own words, and every parameter that more than one of them has. */
export function groupFields(fields: readonly FieldInfo[], chosen: string | undefined): string[] {
  const own = ["experiment", "status", "protocol", "launch", "tags", "host", "user", "branch", "commit"];
  const params = fields
    .filter((field) => field.kind === "param" && field.runs > 1)
    .sort((a, b) => b.runs - a.runs || a.field.localeCompare(b.field))
    .map((field) => field.field);
  return [...new Set([...own, ...params, ...(chosen === undefined ? [] : [chosen])])];
}

/** The series worth a sparkline: the commonest loss, else the commonest metric. */
export function chooseSpark(fields: readonly FieldInfo[]): string | undefined {
  const best = fields
    .filter((field) => field.kind === "metric" && field.field.endsWith(".last"))
    .sort((a, b) => weight(b) + sparkBonus(b) - weight(a) - sparkBonus(a))[0];
  return best === undefined ? undefined : metricOf(best.field)?.key;
}

function weight(field: FieldInfo): number {
  const key = field.field;
  const liked = /val.*loss|loss.*val/.test(key) ? 3 : /loss|acc|score|reward|perplexity/.test(key) ? 2 : 1;
  return field.runs * liked;
}

function sparkBonus(field: FieldInfo): number {
  // Training losses have many points, validation losses few; a sparkline wants many.
  return /loss/.test(field.field) && !/val|test|eval/.test(field.field) ? field.runs * 2 : 0;
}

export function metricOf(field: string): { key: string; what: string } | null {
  const found = /^metrics\.(.+)\.(first|last|min|max|count|nonfinite)$/.exec(field);
  return found?.[1] === undefined || found[2] === undefined ? null : { key: found[1], what: found[2] };
}

const words: Readonly<Record<string, string>> = { protocol: "formats", start: "started", duration: "took" };

/** A column's heading: the name without its kind. */
export function headingOf(field: string): string {
  const metric = metricOf(field);
  if (metric !== null) {
    const [key = "", phase] = metric.key.split(/@(?=[^@]*$)/);
    const name = phase === undefined || key.includes(phase) ? key : `${phase} ${key}`;
    return metric.what === "last" ? name : `${name} ${metric.what}`;
  }
  return words[field] ?? field.replace(/^params\./, "");
}

/** The sort after a click on a heading: ascending, descending, none. */
export function nextSort(sort: readonly string[] | undefined, field: string): string[] | undefined {
  if (sort?.[0] === field) return [`-${field}`];
  if (sort?.[0] === `-${field}`) return undefined;
  return [field];
}

/**
 * Rows must not jump under the mouse: the order that was shown stays, what is gone leaves, and what is new waits
 * in `added` until asked for.
 */
export function keepOrder(shown: readonly string[], fresh: readonly string[]): { order: string[]; added: number } {
  const now = new Set(fresh);
  const before = new Set(shown);
  return {
    order: shown.filter((id) => now.has(id)),
    added: fresh.filter((id) => !before.has(id)).length,
  };
}
