// Which metrics rules look at, as one pattern.

import { type Rule, toKeyPatterns } from "#judge/rule.ts";

/** Times that workers measure themselves tell a straggler even where all wait for each other. */
const stepTimes = "(^|[_/.-])(step|iter|iteration|batch)_(time|ms|seconds|duration)(_ms|_s)?$";

/** Regular expressions without the flag that makes upper and lower case one. */
function patternsOf(rules: readonly Rule[]): string[] {
  return [...new Set(rules.flatMap(({ metric }) => toKeyPatterns(metric))), stepTimes];
}

/** As the engine reads it. */
export function watchedKeys(rules: readonly Rule[]): string {
  return `(?i)${patternsOf(rules).join("|")}`;
}

/** The same without what may stand before and behind: to pass over that took most of a test's time. */
function toShort(pattern: string): string {
  const behind = pattern.startsWith("^.*") ? pattern.slice(3) : pattern;
  return behind.endsWith(".*$") ? behind.slice(0, -3) : behind;
}

/** As many as one run may have: a sender of all of them at each step would else be tested anew each time. */
const keysMax = 100_000;

/** Is asked for every key of every record that comes, mostly for the same ones. */
export function toWatchedTest(rules: readonly Rule[]): (key: string) => boolean {
  const test = new RegExp(patternsOf(rules).map(toShort).join("|"), "i");
  const known = new Map<string, boolean>();
  return (key) => {
    let isWatched = known.get(key);
    if (isWatched === undefined) {
      if (known.size >= keysMax) known.clear();
      isWatched = test.test(key);
      known.set(key, isWatched);
    }
    return isWatched;
  };
}
