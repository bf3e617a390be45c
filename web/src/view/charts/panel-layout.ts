// How panels are arranged: as many beside each other as leave few holes, and what people arrange by hand, as the address
// says it: the range of a panel's y axis, and the order of panels in front.

import type { YBounds } from "../../chart/scale.ts";

/** A panel may be this much narrower than its size says, where that fills a row. */
const narrowest = 0.85;

/**
 * How many panels stand beside each other: as many as have room, or some more where that leaves fewer holes. `counts`
 * are the panels of each group; groups follow each other in rows, and one of several rows has them to itself.
 */
export function columnsFor(widthPx: number, panelPx: number, gapPx: number, counts: readonly number[]): number {
  const roomFor = (px: number) => Math.max(1, Math.floor((widthPx + gapPx) / (px + gapPx)));
  let best = roomFor(panelPx);
  for (let columns = best + 1; columns <= roomFor(panelPx * narrowest); columns++)
    if (holesOf(columns, counts) < holesOf(best, counts)) best = columns;
  return best;
}

/** The share of all places that stays empty. */
function holesOf(columns: number, counts: readonly number[]): number {
  let places = 0;
  let free = 0;
  for (const count of counts) {
    const span = Math.min(columns, count);
    if (span > free) {
      places += columns * Math.ceil(count / columns);
      free = columns;
    }
    free -= span;
  }
  return places === 0 ? 0 : 1 - counts.reduce((sum, count) => sum + count, 0) / places;
}

/** `<panel>:<least>:<greatest>`, either number empty; a panel's name may hold colons itself. */
export function parseRanges(texts: readonly string[]): ReadonlyMap<string, YBounds> {
  return new Map(
    texts.flatMap((text) => {
      const [, id = "", least = "", greatest = ""] = /^(.+):([^:]*):([^:]*)$/s.exec(text) ?? [];
      const bounds = { min: parseBound(least), max: parseBound(greatest) };
      return id === "" || !isRange(bounds) ? [] : [[id, bounds] as const];
    }),
  );
}

export function formatRanges(ranges: ReadonlyMap<string, YBounds>): string[] {
  return Array.from(ranges, ([id, { min, max }]) => `${id}:${min ?? ""}:${max ?? ""}`);
}

/** The ranges with that of one panel changed; null gives the axis back to the data. */
export function withRange(
  ranges: ReadonlyMap<string, YBounds>,
  id: string,
  bounds: YBounds | null,
): ReadonlyMap<string, YBounds> {
  const next = new Map(ranges);
  if (bounds === null) next.delete(id);
  else next.set(id, bounds);
  return next;
}

/** Null for an empty field and for what is not a number. */
export function parseBound(text: string): number | null {
  const value = text.trim() === "" ? Number.NaN : Number(text);
  return Number.isFinite(value) ? value : null;
}

/** At least one side is set, and two leave room between them. */
export function isRange({ min, max }: YBounds): boolean {
  return min === null ? max !== null : max === null || min < max;
}

/** The list with one entry a place further to the front (-1) or to the back (1). */
export function moveInList(list: readonly string[], entry: string, by: -1 | 1): readonly string[] {
  const at = list.indexOf(entry);
  const to = at + by;
  if (at < 0 || to < 0 || to >= list.length) return list;
  const next = [...list];
  next.splice(at, 1);
  next.splice(to, 0, entry);
  return next;
}
