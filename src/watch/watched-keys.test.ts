import { expect, it } from "vitest";
import type { Rule } from "#judge/rule.ts";
import { toWatchedTest, watchedKeys } from "./watched-keys.ts";

const ruleOf = (metric: string) => ({ metric }) as Rule;

it.each(["*loss*", "loss", "*_ms", "gpu.*", "a^*", "a.", "*.b*c", "*", "x*y, *z"])(
  "finds the keys that the engine would find with %s",
  (metric) => {
    const rules = [ruleOf(metric)];
    const asTheEngine = new RegExp(watchedKeys(rules).slice("(?i)".length), "i");
    const isWatched = toWatchedTest(rules);
    const keys = ["loss", "train/LOSS", "losses", "step_ms", "ms", "gpu.0", "gpu", "agpu.1", "a^b", "a^", "a.", "ab"];
    keys.push(
      "x.bzc",
      "x.b",
      ".bc",
      "",
      "xy",
      "x1y",
      "yz",
      "z",
      "step_time",
      "train/iter_ms",
      "my_step_time_s",
      "mystep_time",
    );
    for (const key of keys) expect([key, isWatched(key)]).toEqual([key, asTheEngine.test(key)]);
    // Asked again, it is known.
    expect(keys.map(isWatched)).toEqual(keys.map((key) => asTheEngine.test(key)));
  },
);
