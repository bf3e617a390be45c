// One colour per span name, the same wherever a page shows it.

import { assignColour, type Theme } from "./colour.ts";

const placesOfRun = new Map<string, Map<string, number>>();

export function spanColour(run: string, name: string, theme: Theme): string {
  const places = placesOfRun.get(run) ?? new Map<string, number>();
  placesOfRun.set(run, places);
  return assignColour(places, name, theme);
}

/** The colours of many names at once. Sorted, so that the same names give the same colours on another page. */
export function spanColours(run: string, names: readonly string[], theme: Theme): Map<string, string> {
  return new Map(names.toSorted().map((name) => [name, spanColour(run, name, theme)]));
}
