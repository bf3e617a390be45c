// Points that arrived since the page opened, so that charts grow without asking again. Each series is bounded, the more
// tightly the more of them there are: beyond that, only the lowest and the highest of neighbours stay, so that no part of
// the curve is missing and no spike is lost.
// An answer's `as_of` says which of them it already holds.

import type { LiveEvent } from "#api/contract/live.ts";
import type { Axis } from "#api/contract/series.ts";
import { isAfter } from "#model/positions.ts";
import { toNumber } from "../text/format-number.ts";
import { countOf, type LivePoint } from "./append-points.ts";

interface Tail {
  readonly id: string;
  readonly step: number | null;
  readonly epoch: number | null;
  readonly t: number;
  readonly value: number;
  /** How many points it stands for. */
  readonly count: number;
}

interface WorkerTail {
  kept: readonly Tail[];
  /** Too few yet to be thinned to two. */
  waiting: Tail[];
  /** This many neighbours are thinned to two; 1 while all of them are kept. */
  together: number;
}

interface TailSeries {
  readonly byWorker: Map<string, WorkerTail>;
  size: number;
}

export const tailMax = 8_000;
/** Of all series together. */
export const tailsMax = 400_000;
/** Two of them stay. */
const firstTogether = 4;

export interface LiveTail {
  push(event: LiveEvent<"metrics">): void;
  /** Points of a series newer than an answer, in the axis' unit. `worker` null takes all. */
  points(key: string, phase: string, worker: string | null, axis: Axis, asOf: string): LivePoint[];
}

export function createLiveTail(startNs: string): LiveTail {
  const tails = new Map<string, TailSeries>();
  const start = BigInt(startNs);
  return {
    push(event) {
      const { data } = event;
      data.key.forEach((key, i) => {
        const value = toNumber(data.value[i]);
        if (value === null) return;
        const name = `${key}\n${data.phase[i] ?? ""}`;
        const series = tails.get(name) ?? { byWorker: new Map<string, WorkerTail>(), size: 0 };
        tails.set(name, series);
        add(series, Math.min(tailMax, tailsMax / tails.size), data.worker[i] ?? "", {
          id: event.id,
          step: toNumberOrNull(data.step[i]),
          epoch: toNumberOrNull(data.epoch[i]),
          t: Number(BigInt(data.ts_ns[i] ?? startNs) - start),
          value,
          count: 1,
        });
      });
    },
    points(key, phase, worker, axis, asOf) {
      const series = tails.get(`${key}\n${phase}`);
      const isNewer = createIsNewer(asOf);
      return [...(series?.byWorker ?? [])].flatMap(([name, { kept, waiting }]) =>
        (worker === null || name === worker ? [...kept, ...waiting] : [])
          .filter(({ id }) => isNewer(id))
          .map(({ step, epoch, t, value, count }) => {
            return { x: axis === "step" ? step : axis === "epoch" ? epoch : t, t, value, count };
          }),
      );
    },
  };
}

/** Points come in events by the hundred, and share the id of theirs. */
function createIsNewer(asOf: string): (id: string) => boolean {
  let last = "";
  let isNewer = true;
  return (id) => {
    if (id !== last) isNewer = isAfter(id, asOf);
    last = id;
    return isNewer;
  };
}

function add(series: TailSeries, sizeMax: number, worker: string, point: Tail): void {
  const tail = series.byWorker.get(worker) ?? { kept: [], waiting: [], together: 1 };
  series.byWorker.set(worker, tail);
  tail.waiting.push(point);
  if (tail.waiting.length < tail.together) return;
  const stay = thin(tail.waiting, tail.together);
  tail.waiting = [];
  for (const each of stay) (tail.kept as Tail[]).push(each);
  series.size += stay.length;
  if (series.size > sizeMax) shrink(series, sizeMax);
}

/** Halves what is kept, and thins what comes from now on as much. */
function shrink(series: TailSeries, sizeMax: number): void {
  const tails = [...series.byWorker.values()];
  for (const tail of tails) {
    tail.kept = thin(tail.kept, firstTogether);
    tail.together = Math.max(firstTogether, tail.together * 2);
  }
  const size = tails.reduce((sum, { kept }) => sum + kept.length, 0);
  // Points that are not numbers all stay; where nearly all are such, the older half goes.
  if (size > sizeMax * 0.75) for (const tail of tails) tail.kept = tail.kept.slice(tail.kept.length / 2);
  series.size = tails.reduce((sum, { kept }) => sum + kept.length, 0);
}

/** The lowest and the highest of the neighbours, in their order, which also stand for those that went. */
function thin(points: readonly Tail[], together: number): Tail[] {
  const kept: Tail[] = [];
  for (let at = 0; at < points.length; at += together) {
    const group = points.slice(at, at + together);
    const finite = group.filter(({ value }) => Number.isFinite(value));
    const low = finite.reduce<Tail | undefined>((a, b) => (a === undefined || b.value < a.value ? b : a), undefined);
    const high = finite.reduce<Tail | undefined>((a, b) => (a === undefined || b.value >= a.value ? b : a), undefined);
    const stay = group.filter((point) => point === low || point === high || !Number.isFinite(point.value));
    const gone = countOf(group) - countOf(stay);
    stay.forEach((point, i) => {
      kept.push(i === 0 && gone > 0 ? { ...point, count: point.count + gone } : point);
    });
  }
  return kept;
}

function toNumberOrNull(text: string | null | undefined): number | null {
  return text === null || text === undefined ? null : Number(text);
}
