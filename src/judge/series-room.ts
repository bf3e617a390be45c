// How far back rules look into a series. No more of it is remembered: a fleet has ten thousand series.

import { type Rule, toKeyTest } from "./rule.ts";
import type { SeriesRoom } from "./track.ts";

/** What is looked at as it comes needs no more. */
const least: SeriesRoom = { values: 16, smoothed: 1 };

function roomOf({ kind, options }: Rule): SeriesRoom {
  const size = (...names: string[]): number => Math.ceil(names.reduce((sum, name) => sum + (options[name] ?? 0), 0));
  switch (kind) {
    case "spike":
      return { ...least, values: size("window", "count") };
    case "diverge":
      return { ...least, smoothed: size("steps") };
    case "memory_creep":
      return { ...least, values: size("window") };
    case "idle_gpu":
      return { ...least, values: size("samples") };
    default:
      return least;
  }
}

/** By the key of a series. */
export function toSeriesRoom(rules: readonly Rule[]): (key: string) => SeriesRoom {
  const wanted = rules.map((rule) => ({ isWanted: toKeyTest(rule.metric), room: roomOf(rule) }));
  return (key) => {
    let { values, smoothed } = least;
    for (const { isWanted, room } of wanted)
      if (isWanted(key)) {
        values = Math.max(values, room.values);
        smoothed = Math.max(smoothed, room.smoothed);
      }
    return { values, smoothed };
  };
}
