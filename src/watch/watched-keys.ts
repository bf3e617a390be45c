// Which metrics rules look at, as one pattern.

import { stepTimes } from "#judge/names.ts";
import { type Rule, rememberAnswers, toKeyPatterns } from "#judge/rule.ts";
import type { TrackRoom } from "#judge/track.ts";
import { toTrackRoom } from "#judge/track-room.ts";

/**
 * Regular expressions, to be matched in any case. Times that workers measure themselves tell a straggler even where all
 * wait for each other.
 */
function patternsOf(rules: readonly Rule[]): string[] {
  return [...new Set(rules.flatMap(({ metric }) => toKeyPatterns(metric))), stepTimes];
}

/** As the engine reads it. */
export function watchedKeys(rules: readonly Rule[]): string {
  return `(?i)${patternsOf(rules).join("|")}`;
}

/** The same pattern without leading and trailing wildcards, which take most of the time of a test. */
function toShort(pattern: string): string {
  const behind = pattern.startsWith("^.*") ? pattern.slice(3) : pattern;
  return behind.endsWith(".*$") ? behind.slice(0, -3) : behind;
}

/** Called for every key of every record. */
export function toWatchedTest(rules: readonly Rule[]): (key: string) => boolean {
  const test = new RegExp(patternsOf(rules).map(toShort).join("|"), "i");
  return rememberAnswers((key) => test.test(key));
}

export interface WatchedKeys {
  readonly isWatched: (key: string) => boolean;
  /** How much of a run is remembered. */
  readonly room: TrackRoom;
}

export function toWatchedKeys(rules: readonly Rule[]): WatchedKeys {
  return { isWatched: toWatchedTest(rules), room: toTrackRoom(rules) };
}
