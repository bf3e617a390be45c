// How far back rules look. No more of a run is remembered: a fleet has ten thousand series, and as many workers.

import { type Rule, toKeyTest } from "./rule.ts";
import { usualSteps } from "./signals.ts";
import type { StepRoom } from "./step-track.ts";
import type { SeriesRoom, TrackRoom } from "./track.ts";

/** Enough for rules that look only at the newest value. */
const least: SeriesRoom = { values: 16, smoothed: 1 };
const leastSteps: StepRoom = { took: 1, windows: 1 };
/** So many times the windows that a rule compares are remembered of each rank: the slowest may be that far behind. */
const behind = 4;

function sizeOf({ options }: Rule, ...names: string[]): number {
  return Math.ceil(names.reduce((sum, name) => sum + (options[name] ?? 0), 0));
}

function seriesRoomOf(rule: Rule): SeriesRoom {
  switch (rule.kind) {
    case "spike":
      return { ...least, values: sizeOf(rule, "window", "count") };
    case "diverge":
      return { ...least, smoothed: sizeOf(rule, "steps") };
    case "memory_creep":
      return { ...least, values: sizeOf(rule, "window") };
    case "idle_gpu":
      return { ...least, values: sizeOf(rule, "samples") };
    default:
      return least;
  }
}

function stepRoomOf(rule: Rule): StepRoom {
  switch (rule.kind) {
    case "stall":
      return { ...leastSteps, took: usualSteps };
    case "slow":
      return { ...leastSteps, took: sizeOf(rule, "window") };
    case "straggler":
      return { ...leastSteps, windows: behind * sizeOf(rule, "windows") };
    default:
      return leastSteps;
  }
}

export function toTrackRoom(rules: readonly Rule[]): TrackRoom {
  const wanted = rules.map((rule) => ({ isWanted: toKeyTest(rule.metric), room: seriesRoomOf(rule) }));
  const steps = rules.map(stepRoomOf);
  return {
    steps: {
      took: steps.reduce((most, { took }) => Math.max(most, took), leastSteps.took),
      windows: steps.reduce((most, { windows }) => Math.max(most, windows), leastSteps.windows),
    },
    ofSeries(key) {
      let { values, smoothed } = least;
      for (const { isWanted, room } of wanted)
        if (isWanted(key)) {
          values = Math.max(values, room.values);
          smoothed = Math.max(smoothed, room.smoothed);
        }
      return { values, smoothed };
    },
  };
}
