import fc from "fast-check";
import { expect, it } from "vitest";
import { builtInRules, type Rule, withDefaults } from "./rule.ts";
import { toSeriesRoom } from "./series-room.ts";
import { lookFor } from "./signals.ts";
import { RunTrack } from "./track.ts";

function give(track: RunTrack, values: readonly number[], key: string, from = 0): void {
  for (const [at, value] of values.entries()) {
    const step = BigInt(from + at);
    track.addPoint({ key, phase: "", worker: "w", step, tsNs: step, value }, step);
  }
}

const look = (track: RunTrack, rule: Rule) =>
  lookFor(rule)?.(track, rule, { nowNs: 0n, isAlive: false, steps: new Map() }) ?? null;

it("leaves every rule what it looks at: each sees in what is remembered for it what it sees in all of it", () => {
  const rules = builtInRules();
  const value = fc.oneof(
    fc.double({ min: 0, max: 2, noNaN: true }),
    fc.double({ min: 50, max: 90, noNaN: true }),
    fc.constant(Number.NaN),
  );
  const rows = fc.array(fc.record({ value, count: fc.integer({ min: 1, max: 120 }) }), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(rows, fc.constantFrom("train/loss", "system/gpu0_percent", "memory_bytes"), (given, key) => {
      const [small, large] = [new RunTrack(toSeriesRoom(rules)), new RunTrack()];
      const values = given.flatMap(({ value: level, count }) =>
        Array.from({ length: count }, (_, at) => level * (1 + at / 100)),
      );
      for (const track of [small, large]) give(track, values, key);
      for (const rule of rules) expect(look(small, rule)).toEqual(look(large, rule));
    }),
  );
});

it("remembers a series for as long as its rules look back, and for longer once one does", () => {
  const creep = withDefaults({ name: "creep", kind: "memory_creep", metric: "memory", options: { window: 400 } });
  let rules: readonly Rule[] = builtInRules();
  const track = new RunTrack((key) => toSeriesRoom(rules)(key));
  give(track, Array<number>(1000).fill(1), "memory");
  const [series] = track.series.values();
  expect(series?.finite.held).toBe(16);
  rules = [creep];
  track.widen();
  const growing = Array.from({ length: 384 }, (_, at) => 1 + at);
  give(track, growing.slice(0, -1), "memory", 1000);
  expect(look(track, creep)).toBeNull();
  give(track, growing.slice(-1), "memory", 1383);
  expect(series?.finite.last()).toEqual(Float64Array.from([...Array<number>(16).fill(1), ...growing]));
  expect(look(track, creep)).toMatchObject({ metric: "memory" });
});
