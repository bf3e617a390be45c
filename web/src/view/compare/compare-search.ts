// What a comparison shows, as its address says it.

import type { ComparePart } from "#api/contract/compare.ts";
import { asList, asText, defined } from "../../app/search.ts";

export interface CompareSearch {
  readonly run?: string[];
  readonly tab?: string;
  /** The run that the others are measured by; the first when absent. */
  readonly base?: string;
  /** Runs that are in the comparison but not drawn. */
  readonly hide?: string[];
  /** The axis that gives runs their colours, and the one by which they are taken together. */
  readonly colour?: string;
  readonly group?: string;
  /** The charts to show. */
  readonly find?: string;
  readonly x?: string;
  readonly y?: string;
}

export function parseCompareSearch(search: Record<string, unknown>): CompareSearch {
  return defined({
    run: asList(search["run"]),
    tab: asText(search["tab"]),
    base: asText(search["base"]),
    hide: asList(search["hide"]),
    colour: asText(search["colour"]),
    group: asText(search["group"]),
    find: asText(search["find"]),
    x: asText(search["x"]),
    y: asText(search["y"]),
  });
}

/** The runs once each, the base first. */
export function orderedRuns({ run = [], base }: CompareSearch): string[] {
  const ids = [...new Set(run)];
  return base !== undefined && ids.includes(base) ? [base, ...ids.filter((id) => id !== base)] : ids;
}

export function toPartQuestion(ids: readonly string[], part: ComparePart) {
  return { query: { run: [...ids], part: [part] } };
}
