// Points that arrived since the page opened, so that charts grow without asking again. Bounded a series; an answer's
// `as_of` says which of them it already holds.

import type { LiveEvent } from "#api/contract/live.ts";
import type { Axis } from "#api/contract/series.ts";
import { isAfter } from "#model/positions.ts";
import { toNumber } from "../text/format-number.ts";
import type { LivePoint } from "./append-points.ts";

interface Tail {
  readonly id: string;
  readonly worker: string;
  readonly step: number | null;
  readonly epoch: number | null;
  readonly t: number;
  readonly value: number;
}

const tailMax = 20_000;

export interface LiveTail {
  push(event: LiveEvent<"metrics">): void;
  /** Points of a series newer than an answer, in the axis' unit. `worker` null takes all. */
  points(key: string, phase: string, worker: string | null, axis: Axis, asOf: string): LivePoint[];
}

export function createLiveTail(startNs: string): LiveTail {
  const tails = new Map<string, Tail[]>();
  const start = BigInt(startNs);
  return {
    push(event) {
      const { data } = event;
      data.key.forEach((key, i) => {
        const value = toNumber(data.value[i]);
        if (value === null) return;
        const name = `${key}\n${data.phase[i] ?? ""}`;
        const tail = tails.get(name) ?? [];
        tail.push({
          id: event.id,
          worker: data.worker[i] ?? "",
          step: toNumberOrNull(data.step[i]),
          epoch: toNumberOrNull(data.epoch[i]),
          t: Number(BigInt(data.ts_ns[i] ?? startNs) - start),
          value,
        });
        if (tail.length > tailMax) tail.splice(0, tail.length - tailMax);
        tails.set(name, tail);
      });
    },
    points(key, phase, worker, axis, asOf) {
      const tail = tails.get(`${key}\n${phase}`) ?? [];
      return tail
        .filter((point) => (worker === null || point.worker === worker) && isAfter(point.id, asOf))
        .map((point) => ({
          x: axis === "step" ? point.step : axis === "epoch" ? point.epoch : point.t,
          t: point.t,
          value: point.value,
        }));
    },
  };
}

function toNumberOrNull(text: string | null | undefined): number | null {
  return text === null || text === undefined ? null : Number(text);
}
