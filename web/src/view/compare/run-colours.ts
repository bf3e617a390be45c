// Which colour each compared run has: one of its own while it is shown, that of a parameter or metric, or that of its
// group. Pure, but for the places that runs keep while they are on screen.

import { distinctColour, heatColour, type Theme } from "../../chart/colour.ts";
import type { ParallelAxis } from "./parallel.ts";

export type Colours = ReadonlyMap<string, string>;

/**
 * The place of each run among the colours. A run that stays keeps its place, so adding or leaving out another never
 * changes its colour; a new one takes the first place that is free.
 */
export function keepPlaces(before: ReadonlyMap<string, number>, ids: readonly string[]): Map<string, number> {
  const places = new Map<string, number>();
  for (const id of ids) {
    const place = before.get(id);
    if (place !== undefined) places.set(id, place);
  }
  const taken = new Set(places.values());
  let next = 0;
  for (const id of ids) {
    if (places.has(id)) continue;
    while (taken.has(next)) next++;
    taken.add(next);
    places.set(id, next);
  }
  return places;
}

export function coloursOfRuns(places: ReadonlyMap<string, number>, theme: Theme): Map<string, string> {
  return new Map([...places].map(([id, place]) => [id, distinctColour(place, theme)]));
}

const noValue = { light: "#9aa3ad", dark: "#6b7480" } as const;

/** Of a scale the pale end is left out: a line must be seen on the page. */
const scaleColour = (place: number, theme: Theme): string => heatColour(0.3 + 0.7 * place, theme);

export function scaleColours(theme: Theme): string[] {
  return [0, 0.25, 0.5, 0.75, 1].map((place) => scaleColour(place, theme));
}

/** By the value of an axis: words get colours of their own, numbers a scale from pale to strong. */
export function coloursByAxis(axis: ParallelAxis, ids: readonly string[], theme: Theme): Map<string, string> {
  return new Map(
    ids.map((id, i) => {
      const place = axis.places[i] ?? null;
      if (place === null) return [id, noValue[theme]];
      const at = axis.words?.indexOf(axis.texts[i] ?? "");
      return [id, at === undefined ? scaleColour(place, theme) : distinctColour(at, theme)];
    }),
  );
}

export interface RunGroup {
  readonly text: string;
  readonly ids: readonly string[];
  readonly colour: string;
}

/** Runs with the same value, in the order of the axis; those without one come last. */
export function groupsByAxis(axis: ParallelAxis, ids: readonly string[], theme: Theme): RunGroup[] {
  const byText = Map.groupBy(ids, (_, i) => ((axis.places[i] ?? null) === null ? "–" : (axis.texts[i] ?? "–")));
  const placeOf = (text: string): number => axis.places[axis.texts.indexOf(text)] ?? 2;
  return [...byText]
    .sort(([a], [b]) => placeOf(a) - placeOf(b))
    .map(([text, members], i) => ({ text, ids: members, colour: distinctColour(i, theme) }));
}
