// How many rows of metrics go into one block. The engine summarises the series of a block while it is stored, and needs
// kilobytes for each of them until then. A block of half a million series, which a single event with that many metrics
// makes, needed more memory than a question may take and was refused for ever. So the number of series in a block is
// bounded.

import type { DictColumn } from "#base/columns.ts";
import type { Rows } from "#model/tables.ts";

const seriesMax = 60_000;

type SeriesRows = Pick<Rows<"metrics">, "group_key" | "key" | "worker" | "phase">;

const names = ["group_key", "key", "worker", "phase"] as const;

const pauseRows = 4096;

/** Infinity if all rows fit. Pauses, as there may be a million rows. */
export function* rowsPerBlock(parts: readonly SeriesRows[], max: number = seriesMax): Generator<void, number> {
  let atMost = 0;
  let rows = 0;
  for (const part of parts) {
    rows += part.key.length;
    atMost += Math.min(
      part.key.length,
      names.reduce((product, name) => product * part[name].keys.length, 1),
    );
  }
  const series = atMost <= max ? atMost : yield* countSeries(parts);
  return series <= max ? Number.POSITIVE_INFINITY : Math.floor((rows * max) / series);
}

function* countSeries(parts: readonly SeriesRows[]): Generator<void, number> {
  const columns: Numbering[] = [];
  for (const name of names) columns.push(yield* renumber(parts.map((part) => part[name])));
  const series = new Set<number>();
  for (const [at, { key }] of parts.entries())
    for (let row = 0; row < key.length; row++) {
      if (row % pauseRows === 0) yield;
      let number = 0;
      for (const { size, codeOf } of columns) number = number * size + (codeOf(at, row) as number);
      series.add(number);
    }
  return series.size;
}

interface Numbering {
  readonly size: number;
  codeOf(part: number, row: number): number;
}

/** One numbering for the words of all parts, each of which has its own. */
function* renumber(columns: readonly DictColumn[]): Generator<void, Numbering> {
  const codes = new Map<string, number>();
  const own: Uint32Array[] = [];
  for (const { keys } of columns) {
    const numbers = new Uint32Array(keys.length);
    for (let at = 0; at < keys.length; at++) {
      if (at % pauseRows === 0) yield;
      const key = keys[at] as string;
      const known = codes.get(key) ?? codes.size;
      codes.set(key, known);
      numbers[at] = known;
    }
    own.push(numbers);
  }
  const codeOf = (part: number, row: number): number =>
    (own[part] as Uint32Array)[(columns[part] as DictColumn).codes[row] as number] as number;
  return { size: codes.size, codeOf };
}
