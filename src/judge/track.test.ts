import fc from "fast-check";
import { expect, test } from "vitest";
import type { SenderNs } from "#base/clock.ts";
import { DictColumn, Int64Column, nullableFloat64, nullableInt64 } from "#base/columns.ts";
import type { PointColumns, TrackPoint } from "./points.ts";
import { RunTrack } from "./track.ts";

function toColumns(points: readonly TrackPoint[]): PointColumns {
  const columns = {
    key: new DictColumn(),
    phase: new DictColumn(),
    worker: new DictColumn(),
    step: nullableInt64(),
    ts_ns: new Int64Column<SenderNs>(),
    value: nullableFloat64(),
  };
  for (const { key, phase, worker, step, tsNs, value } of points) {
    columns.key.push(key);
    columns.phase.push(phase);
    columns.worker.push(worker);
    if (step === null) columns.step.pushNull();
    else columns.step.present().pushBigInt(step);
    columns.ts_ns.pushBigInt(tsNs);
    columns.value.present().push(value);
  }
  return columns;
}

/** All that rules can see of it. */
function seen({ series, steps, firstNs, steppedNs }: RunTrack): unknown {
  return {
    firstNs,
    steppedNs,
    series: Array.from(series, ([id, { finite, smoothed, nonfinite, best, last, fresh }]) => ({
      ...{ id, finite: finite.last(), smoothed: smoothed.last(), nonfinite, best, last, fresh },
    })),
    steps: Array.from(steps, ([id, track]) => ({
      ...{ id, step: track.step, tsNs: track.tsNs, count: track.count, took: track.took.last() },
      windows: track.toWindows(),
    })),
  };
}

/** Around the places where words of 32 bits end, and where a number is rounded. */
const edges = [0n, 1n, 2n ** 31n, 2n ** 32n, 2n ** 53n, 1_794_710_321_102_255_000n, -1n, -(2n ** 32n), -(2n ** 63n)];
const near = fc.tuple(fc.constantFrom(...edges), fc.bigInt({ min: 0n, max: 40n })).map(([edge, more]) => edge + more);
const point = fc.record({
  step: fc.option(near),
  tsNs: near,
  value: fc.oneof(fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY), fc.double({ noNaN: true, min: -9, max: 9 })),
});
const series = fc.record({
  key: fc.constantFrom("loss", "step_time"),
  phase: fc.constantFrom("", "train"),
  worker: fc.constantFrom("0", "1"),
  points: fc.array(point, { minLength: 1, maxLength: 60 }),
});

test("points of a series that come side by side are remembered as if they came one by one", () => {
  fc.assert(
    fc.property(fc.array(series, { maxLength: 12 }), (runs) => {
      const [together, apart] = [new RunTrack(), new RunTrack()];
      for (const [at, { points, ...name }] of runs.entries()) {
        const named = points.map((one) => ({ ...one, ...name }));
        together.addPoints(toColumns(named), 0, named.length, BigInt(at));
        for (const one of named) apart.addPoint(one, BigInt(at));
      }
      expect(seen(together)).toEqual(seen(apart));
    }),
  );
});

test("a point counts if it is later than the last one, or at the same time with another step, whatever their words", () => {
  fc.assert(
    fc.property(fc.array(point, { minLength: 1, maxLength: 60 }), (points) => {
      const track = new RunTrack();
      let last: (typeof points)[number] | null = null;
      let counted = 0;
      for (const one of points) {
        track.addPoint({ ...one, key: "loss", phase: "", worker: "0" }, 0n);
        if (last !== null && (one.tsNs < last.tsNs || (one.tsNs === last.tsNs && one.step === last.step))) continue;
        last = one;
        if (Number.isFinite(one.value)) counted++;
      }
      const [found] = [...track.series.values()];
      expect(found?.last).toEqual(last === null ? null : { step: last.step, tsNs: last.tsNs });
      expect(found?.finite.count).toBe(counted);
    }),
  );
});

test("a worker is at the highest step that it told, and at the latest time of the steps that were new", () => {
  fc.assert(
    fc.property(fc.array(fc.record({ step: near, tsNs: near }), { minLength: 1, maxLength: 60 }), (told) => {
      const track = new RunTrack();
      let at: { step: bigint; tsNs: bigint } | null = null;
      for (const one of told) {
        track.addStep({ ...one, worker: "0", tookNs: null }, 0n);
        if (at === null) at = { ...one };
        else if (one.step > at.step) at = { step: one.step, tsNs: one.tsNs > at.tsNs ? one.tsNs : at.tsNs };
      }
      expect([...track.steps.values()].map(({ step, tsNs }) => ({ step, tsNs }))).toEqual([at]);
    }),
  );
});
