import fc from "fast-check";
import { expect, it } from "vitest";
import { RunTrack } from "#judge/track.ts";
import { createRows } from "#model/tables.ts";
import { Arrivals, arrivalsMin } from "./arrivals.ts";
import type { TrackSink } from "./run-watch.ts";

type Told = (sink: Omit<TrackSink, "heardNs">) => void;

const room = () => ({
  steps: { took: 16, windows: 16 },
  ofSeries: () => ({ values: 16, smoothed: 1 }),
});
const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const name = fc.constantFrom("", "a", "b");

const point = fc
  .tuple(name, name, name, fc.option(int64), int64, fc.double(), int64)
  .map(([key, phase, worker, step, tsNs, value, receivedNs]): Told => {
    return (sink) => {
      const rows = createRows("metrics");
      rows.key.push(key);
      rows.phase.push(phase);
      rows.worker.push(worker);
      if (step === null) rows.step.pushNull();
      else rows.step.present().pushBigInt(step);
      rows.ts_ns.pushBigInt(tsNs);
      rows.value.present().push(value);
      sink.addPoints(rows, 0, 1, receivedNs);
    };
  });
const step = fc
  .tuple(name, int64, int64, fc.option(fc.integer({ min: 0 })), int64)
  .map(([worker, at, tsNs, tookNs, receivedNs]): Told => {
    return (sink) => sink.addStep({ worker, step: at, tsNs, tookNs }, receivedNs);
  });
const wait = fc.tuple(name, fc.nat()).map(
  ([worker, ns]): Told =>
    (sink) =>
      sink.addWait(worker, ns),
);
const checkpoint = int64.map(
  (tsNs): Told =>
    (sink) =>
      sink.addCheckpoint(tsNs),
);

it("tells a run's memory again what it was told, digit by digit", () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(point, step, wait, checkpoint), { maxLength: 80 }), (told) => {
      const arrivals = new Arrivals();
      const [straight, again] = [new RunTrack(room), new RunTrack(room)];
      for (const tell of told) {
        tell(straight);
        tell(arrivals);
      }
      arrivals.giveTo(again);
      expect(again).toEqual(straight);
    }),
  );
});

it("keeps the latest arrivals, in order, however they came", () => {
  const rows = createRows("metrics");
  const all = 5 * arrivalsMin;
  for (let n = 0; n < all; n++) {
    rows.key.push("loss");
    rows.phase.push("");
    rows.worker.push("0");
    rows.step.present().pushNumber(n);
    rows.ts_ns.pushNumber(n);
    rows.value.present().push(n);
  }
  for (const atOnce of [1, 7, arrivalsMin, all]) {
    const arrivals = new Arrivals();
    for (let from = 0; from < all; from += atOnce) arrivals.addPoints(rows, from, Math.min(all, from + atOnce), 1n);
    const track = new RunTrack(room);
    arrivals.giveTo(track);
    const [series] = [...track.series.values()];
    const count = series?.finite.count ?? 0;
    expect(count).toBeGreaterThanOrEqual(arrivalsMin);
    expect(count).toBeLessThanOrEqual(2 * arrivalsMin);
    expect(track.firstNs).toBe(BigInt(all - count));
  }
});
