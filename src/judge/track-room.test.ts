import fc from "fast-check";
import { expect, it } from "vitest";
import { builtInRules, type Rule, withDefaults } from "./rule.ts";
import { lookFor } from "./signals.ts";
import { RunTrack } from "./track.ts";
import { toTrackRoom } from "./track-room.ts";

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
      const [small, large] = [new RunTrack(() => toTrackRoom(rules)), new RunTrack()];
      const values = given.flatMap(({ value: level, count }) =>
        Array.from({ length: count }, (_, at) => level * (1 + at / 100)),
      );
      for (const track of [small, large]) give(track, values, key);
      for (const rule of rules) expect(look(small, rule)).toEqual(look(large, rule));
    }),
  );
});

it("leaves rules of steps what they look at", () => {
  const slow = withDefaults({ name: "slow", kind: "slow" });
  const rules = [...builtInRules(), slow];
  const moment = { nowNs: 10n ** 15n, isAlive: true, steps: new Map() };
  const took = fc.array(fc.record({ ms: fc.integer({ min: 1, max: 90 }), count: fc.integer({ min: 1, max: 150 }) }), {
    minLength: 1,
    maxLength: 6,
  });
  fc.assert(
    fc.property(took, took, (ofOne, ofOther) => {
      const [small, large] = [new RunTrack(() => toTrackRoom(rules)), new RunTrack()];
      for (const [worker, stretches] of Object.entries({ a: ofOne, b: ofOther })) {
        let step = 0n;
        let tsNs = 0n;
        for (const { ms, count } of stretches)
          for (let at = 0; at < count; at++) {
            step++;
            tsNs += BigInt(ms) * 1_000_000n;
            for (const track of [small, large]) track.addStep({ worker, step, tsNs, tookNs: ms * 1e6 }, tsNs);
          }
      }
      // Ranks are compared only while the slowest is not too far behind.
      const steps = [...large.steps.values()].map((worker) => Number(worker.step));
      const isNear = Math.abs((steps[0] as number) - (steps[1] as number)) < 290;
      for (const rule of rules.filter(({ kind }) => isNear || kind !== "straggler"))
        expect([rule.kind, lookFor(rule)?.(small, rule, moment)]).toEqual([
          rule.kind,
          lookFor(rule)?.(large, rule, moment),
        ]);
    }),
  );
});

it("remembers a series for as long as its rules look back, and for longer once one does", () => {
  const creep = withDefaults({ name: "creep", kind: "memory_creep", metric: "memory", options: { window: 400 } });
  let rules: readonly Rule[] = builtInRules();
  const track = new RunTrack(() => toTrackRoom(rules));
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
