import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Rule, type RuleKind, ruleKindNames, sayRule, withDefaults } from "./rule.ts";
import { isOfTrackAlone, lookFor, type Signal } from "./signals.ts";
import { medianOf, spreadOf } from "./statistics.ts";
import { RunTrack } from "./track.ts";

const second = 1_000_000_000n;
const rule = (kind: RuleKind, options: Record<string, number> = {}, more: Partial<Rule> = {}): Rule =>
  withDefaults({ name: kind, kind, options, ...more });

function look(
  track: RunTrack,
  one: Rule,
  nowNs = 0n,
  isAlive = true,
  steps = new Map<string, number>(),
): Signal | null {
  const found = lookFor(one)?.(track, one, { nowNs, isAlive, steps }) ?? null;
  return found;
}

/** A point a second. */
function give(track: RunTrack, values: readonly number[], { key = "loss", worker = "w0", from = 0 } = {}): void {
  for (const [at, value] of values.entries()) {
    const step = BigInt(from + at);
    track.addPoint({ key, phase: "", worker, step, tsNs: step * second, value }, step * second);
  }
}

const noisy = (length: number, valueAt: (at: number) => number) =>
  Array.from({ length }, (_, at) => valueAt(at) * (1 + 0.05 * Math.sin(at * 12.9898)));

describe("nonfinite", () => {
  test("fires at so many in a row, and says where the row began", () => {
    const track = new RunTrack();
    give(track, [1, 2, Number.NaN, Number.NaN]);
    expect(look(track, rule("nonfinite"))).toBeNull();
    give(track, [Number.POSITIVE_INFINITY], { from: 4 });
    expect(look(track, rule("nonfinite"))).toMatchObject({ at: { step: 2n }, metric: "loss" });
  });

  test("a row that came and went between two looks is seen once", () => {
    const track = new RunTrack();
    give(track, [1, Number.NaN, Number.NaN, Number.NaN, 1]);
    expect(look(track, rule("nonfinite"))).not.toBeNull();
    track.looked();
    expect(look(track, rule("nonfinite"))).toBeNull();
  });

  test("a point that is given twice counts once, as does one that comes late", () => {
    const track = new RunTrack();
    give(track, [1, Number.NaN, Number.NaN]);
    give(track, [Number.NaN, Number.NaN], { from: 1 });
    expect(look(track, rule("nonfinite"))).toBeNull();
  });

  test("metrics that its patterns do not name are left alone", () => {
    const track = new RunTrack();
    give(track, [Number.NaN, Number.NaN, Number.NaN], { key: "ratio" });
    expect(look(track, rule("nonfinite"))).toBeNull();
    expect(look(track, rule("nonfinite", {}, { metric: "rat*" }))).not.toBeNull();
  });
});

describe("spike and diverge", () => {
  test("a spike is what lies so many deviations above the median, wherever the values lie", () => {
    const value = fc.integer({ min: -40, max: 40 });
    const values = fc.array(value, { minLength: 33, maxLength: 60 });
    fc.assert(
      fc.property(values, fc.array(fc.integer({ min: -40, max: 400 }), { minLength: 3, maxLength: 3 }), (all, last) => {
        const track = new RunTrack();
        give(track, [...all, ...last]);
        const before = all.slice(-100);
        const median = medianOf(before);
        const spread = Math.max(spreadOf(before, median), Math.abs(median) * 1e-3, Number.MIN_VALUE);
        const isSpike = last.every((one) => (one - median) / spread > 10);
        expect(look(track, rule("spike")) !== null).toBe(isSpike);
      }),
    );
  });

  test("a few values far above the usual are a spike; noise and a fall are not", () => {
    const track = new RunTrack();
    give(
      track,
      noisy(120, () => 2),
    );
    expect(look(track, rule("spike"))).toBeNull();
    give(track, [0.1, 0.1, 0.1], { from: 120 });
    expect(look(track, rule("spike"))).toBeNull();
    give(track, [9, 9, 9], { from: 123 });
    expect(look(track, rule("spike"))).toMatchObject({ metric: "loss" });
  });

  test("a loss that stays above its best diverges; one that comes back does not", () => {
    const falling = noisy(200, (at) => 1 + 4 * Math.exp(-at / 40));
    const back = new RunTrack();
    give(back, [...falling, ...noisy(30, () => 4), ...noisy(80, () => 1)]);
    expect(look(back, rule("diverge"))).toBeNull();
    const gone = new RunTrack();
    give(gone, [...falling, ...noisy(120, (at) => 1 + at / 20)]);
    expect(look(gone, rule("diverge"))?.text).toMatch(/^loss is diverging/);
  });
});

describe("steps", () => {
  test("a stall is longer than the least time and than ten usual steps, and only of a run that is alive", () => {
    const track = new RunTrack();
    give(track, Array(50).fill(1));
    expect(look(track, rule("stall"), 49n * second + 119n * second)).toBeNull();
    expect(look(track, rule("stall"), 49n * second + 121n * second)).toMatchObject({ at: { step: 49n } });
    expect(look(track, rule("stall"), 49n * second + 121n * second, false)).toBeNull();
    const slow = new RunTrack();
    for (let step = 0n; step < 20n; step++)
      slow.addStep({ worker: "0", step, tsNs: step * 60n * second, tookNs: 60e9 }, step * 60n * second);
    expect(look(slow, rule("stall"), 19n * 60n * second + 500n * second)).toBeNull();
    expect(look(slow, rule("stall"), 19n * 60n * second + 601n * second)).not.toBeNull();
  });

  test("steps that become half as long again are slow, measured against the run's own first", () => {
    const track = new RunTrack();
    let tsNs = 0n;
    const step = (at: number, tookNs: number) => {
      tsNs += BigInt(tookNs);
      track.addStep({ worker: "0", step: BigInt(at), tsNs, tookNs }, tsNs);
    };
    for (let at = 0; at < 200; at++) step(at, at < 5 ? 9e9 : 1e9);
    expect(look(track, rule("slow"))).toBeNull();
    for (let at = 200; at < 260; at++) step(at, 1.6e9);
    expect(look(track, rule("slow"))?.text).toBe("Steps have become slower: 1.6 s, 1.6 times as long as at first.");
  });

  test("steps are slow against those of a run that the rule names, from the first window on", () => {
    const track = new RunTrack();
    const than = { ...rule("slow"), than: "baseline" };
    const steps = new Map([["baseline", 1e9]]);
    for (let at = 0; at < 54; at++)
      track.addStep({ worker: "0", step: BigInt(at), tsNs: BigInt(at) * 2n * second, tookNs: 2e9 }, 0n);
    expect(look(track, than, 0n, true, steps)).toBeNull();
    for (let at = 54; at < 56; at++)
      track.addStep({ worker: "0", step: BigInt(at), tsNs: BigInt(at) * 2n * second, tookNs: 2e9 }, 0n);
    expect(look(track, than, 0n, true, steps)).toMatchObject({
      text: "Steps are slow: 2 s, 2 times as long as those of baseline.",
      evidence: ["the median of the last 50 steps of rank 0", "the median step of baseline is 1 s"],
    });
    expect(look(track, than, 0n, true, new Map([["baseline", 1.5e9]]))).toBeNull();
    expect(look(track, than)).toBeNull();
    expect(look(track, rule("slow"), 0n, true, steps)).toBeNull();
  });

  test("a straggler is told by the workers' own watches where all wait for each other", () => {
    const track = new RunTrack();
    for (let at = 0; at < 150; at++)
      for (const worker of ["w0", "w1", "w2"]) {
        give(track, [1], { worker, from: at });
        give(track, [worker === "w1" ? 0.02 : 0.01], { key: "step_time", worker, from: at });
      }
    expect(look(track, rule("straggler"))?.text).toMatch(/^Worker w1 is a straggler: 2 times/);
  });

  test("ranks that are not in step are compared where all of them were", () => {
    const track = new RunTrack();
    for (const [worker, steps] of [
      ["w0", 700],
      ["w1", 320],
    ] as const)
      for (let at = 0; at < steps; at++)
        give(track, [worker === "w1" ? 0.02 : 0.01], { key: "step_time", worker, from: at });
    expect(look(track, rule("straggler"))?.text).toMatch(/^Worker w1 is a straggler/);
  });

  test("waiting for others inside a step is not a rank's own time", () => {
    const track = new RunTrack();
    for (let at = 0n; at < 150n; at++)
      for (const worker of ["0", "1"]) {
        track.addWait(worker, worker === "0" ? 5e9 : 0);
        track.addStep({ worker, step: at, tsNs: at * 10n * second, tookNs: 10e9 }, at);
      }
    expect(look(track, rule("straggler"))?.text).toMatch(/^Rank 1 is a straggler: 2 times/);
  });

  test("no checkpoint for long while steps go on", () => {
    const track = new RunTrack();
    give(track, Array(100).fill(1));
    expect(look(track, rule("no_checkpoint", { min_ms: 90_000 }))).not.toBeNull();
    track.addCheckpoint(80n * second);
    expect(look(track, rule("no_checkpoint", { min_ms: 90_000 }))).toBeNull();
  });
});

describe("the machine", () => {
  test("memory that grows through all quarters creeps; memory that is full does not", () => {
    const creeping = new RunTrack();
    give(
      creeping,
      noisy(200, (at) => 1e9 * (1 + at / 200)).map((value, at) => value + at),
      { key: "system/memory_bytes" },
    );
    expect(look(creeping, rule("memory_creep"))?.text).toMatch(/keeps growing/);
    const full = new RunTrack();
    give(
      full,
      noisy(200, () => 8e10),
      { key: "system/gpu0_memory_bytes" },
    );
    expect(look(full, rule("memory_creep"))).toBeNull();
  });

  test("a GPU that does nothing is idle", () => {
    const track = new RunTrack();
    give(track, Array(20).fill(3), { key: "system/gpu0_percent" });
    expect(look(track, rule("idle_gpu"))).not.toBeNull();
    give(track, Array(20).fill(93), { key: "system/gpu0_percent", from: 20 });
    expect(look(track, rule("idle_gpu"))).toBeNull();
  });
});

test("a rule says what it looks for with its numbers", () => {
  expect(sayRule(rule("stall", { factor: 5 }))).toBe(
    "no new step for 2 min, and for 5 times the median step, while the run is alive",
  );
  expect(sayRule(rule("threshold", {}, { when: "status:failed" }))).toContain("matches status:failed,");
});

test("a rule that needs what is remembered alone, and saw nothing in it, sees nothing until more comes", () => {
  const alone = ruleKindNames.map((kind) => rule(kind)).filter(isOfTrackAlone);
  expect(alone.map(({ kind }) => kind)).not.toContain("stall");
  expect(isOfTrackAlone(rule("slow", {}, { than: "baseline" }))).toBe(false);
  const values = fc.array(fc.oneof(fc.constantFrom(Number.NaN, 1e9), fc.double({ min: 0, max: 2, noNaN: true })), {
    maxLength: 400,
    size: "max",
  });
  fc.assert(
    fc.property(fc.array(values, { minLength: 1, maxLength: 3 }), (workers) => {
      const track = new RunTrack();
      for (const [at, own] of workers.entries()) give(track, own, { worker: `w${at}` });
      const idle = alone.filter((one) => look(track, one) === null);
      track.looked();
      expect(idle.filter((one) => look(track, one, 1_000_000n * second) !== null)).toEqual([]);
    }),
    { numRuns: 60 },
  );
});
