// A message cut into pieces of one look each: its own colours, and the places a search has found. Pure.

import { parseAnsi } from "../../text/ansi.ts";

export interface Piece {
  /** Where it begins in the text. */
  readonly at: number;
  readonly text: string;
  readonly style: string;
  readonly hit: boolean;
}

export function toPieces(message: string, search: string): Piece[] {
  const { text, ranges } = parseAnsi(message);
  const hits = findHits(text, search);
  const edges = new Set([0, text.length, ...ranges.flatMap((each) => [each.from, each.to]), ...hits.flat()]);
  const places = [...edges].sort((a, b) => a - b);
  let range = 0;
  let hit = 0;
  return places.slice(0, -1).map((at, i) => {
    while ((ranges[range]?.to ?? Number.POSITIVE_INFINITY) <= at) range++;
    while ((hits[hit]?.[1] ?? Number.POSITIVE_INFINITY) <= at) hit++;
    return {
      at,
      text: text.slice(at, places[i + 1]),
      style: (ranges[range]?.from ?? Number.POSITIVE_INFINITY) <= at ? (ranges[range]?.style ?? "") : "",
      hit: (hits[hit]?.[0] ?? Number.POSITIVE_INFINITY) <= at,
    };
  });
}

function findHits(text: string, search: string): (readonly [from: number, to: number])[] {
  if (search === "") return [];
  const pattern = new RegExp(search.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "gi");
  return [...text.matchAll(pattern)].map((found) => [found.index, found.index + found[0].length] as const);
}
