// What a comparison shows, as its address says it.

import type { ComparePart } from "#api/contract/compare.ts";
import { asList, asText, toSearchParser } from "../../app/search.ts";

export const parseCompareSearch = toSearchParser({
  run: asList,
  tab: asText,
  /** The run that the others are measured by; the first when absent. */
  base: asText,
  /** Runs that are in the comparison but not drawn. */
  hide: asList,
  /** The axis that gives runs their colours, and the one by which they are taken together. */
  colour: asText,
  group: asText,
  /** The charts to show. */
  find: asText,
  x: asText,
  y: asText,
});
export type CompareSearch = ReturnType<typeof parseCompareSearch>;

/** The runs once each, the base first. */
export function orderedRuns({ run = [], base }: CompareSearch): string[] {
  const ids = [...new Set(run)];
  return base !== undefined && ids.includes(base) ? [base, ...ids.filter((id) => id !== base)] : ids;
}

export function toPartQuestion(ids: readonly string[], part: ComparePart) {
  return { query: { run: [...ids], part: [part] } };
}
