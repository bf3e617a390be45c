// One colour a span name, the same wherever a page shows it: each name its hashed place of the palette when that is
// free, else the next free one. The run remembers, so that names which come later change nothing.

import { hashText, paletteColour, paletteSize, type Theme } from "./colour.ts";

const placesOfRun = new Map<string, Map<string, number>>();

export function spanColour(run: string, name: string, theme: Theme): string {
  const places = placesOfRun.get(run) ?? new Map<string, number>();
  placesOfRun.set(run, places);
  let place = places.get(name);
  if (place === undefined) {
    const taken = new Set(places.values());
    place = hashText(name) % paletteSize;
    if (taken.size < paletteSize) while (taken.has(place)) place = (place + 1) % paletteSize;
    places.set(name, place);
  }
  return paletteColour(place, theme);
}

/** The colours of many names at once. Sorted, so that the same names give the same colours on another page. */
export function spanColours(run: string, names: readonly string[], theme: Theme): Map<string, string> {
  return new Map(names.toSorted().map((name) => [name, spanColour(run, name, theme)]));
}
