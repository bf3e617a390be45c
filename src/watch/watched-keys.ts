// Which metrics rules look at, as one pattern.

import { type Rule, toKeyPatterns } from "#judge/rule.ts";

/** Times that workers measure themselves tell a straggler even where all wait for each other. */
const stepTimes = "(^|.*[_/.-])(step|iter|iteration|batch)_(time|ms|seconds|duration)(_ms|_s)?$";

/** A regular expression without the flag that makes upper and lower case one. */
function patternOf(rules: readonly Rule[]): string {
  const patterns = new Set(rules.flatMap(({ metric }) => toKeyPatterns(metric)));
  return [...patterns, stepTimes].join("|");
}

/** As the engine reads it. */
export function watchedKeys(rules: readonly Rule[]): string {
  return `(?i)${patternOf(rules)}`;
}

const keysMax = 20_000;

/** Is asked for every key of every record that comes, mostly for the same ones. */
export function toWatchedTest(rules: readonly Rule[]): (key: string) => boolean {
  const test = new RegExp(patternOf(rules), "i");
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
