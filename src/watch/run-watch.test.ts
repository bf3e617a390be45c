import { expect, it } from "vitest";
import { RunWatch } from "./run-watch.ts";

/** More than a watch keeps one by one. */
const points = 5000;

function hear(run: RunWatch): void {
  for (let n = 1; n <= points; n++) {
    const value = n === 100 ? Number.NaN : n;
    run.sink.addPoint({ key: "loss", phase: "", worker: "0", step: BigInt(n), tsNs: BigInt(n) * 10n, value }, 7n);
  }
  run.sink.heardNs = 7n;
}

it("remembers all that came of a run which began while it was watched, however much that was", () => {
  const run = new RunWatch("default", "r");
  run.heard(5n, 1);
  hear(run);
  expect([run.hasHeardSince(5n), run.hasHeardSince(4n)]).toEqual([true, false]);
  run.settleWhole();
  const [series] = [...run.remembered.series.values()];
  expect(series).toMatchObject({ finite: { count: points - 1 }, nonfinite: { count: 1, from: { step: 100n } } });
  expect(run.remembered).toMatchObject({ heardNs: 7n, steppedNs: 7n });
});

it("gives what the store knows of a run before what came meanwhile, and no value that is not finite is missed", () => {
  const run = new RunWatch("default", "r");
  run.heard(5n, 1);
  hear(run);
  for (let n = 1; n <= 4900; n++)
    run.recall((track) =>
      track.addPoint({ key: "loss", phase: "", worker: "0", step: BigInt(n), tsNs: BigInt(n) * 10n, value: n }, 1n),
    );
  run.settle(9n);
  const [series] = [...run.remembered.series.values()];
  expect(series).toMatchObject({ finite: { count: points }, nonfinite: { count: 1, from: { step: 100n } } });
  expect(run.remembered.heardNs).toBe(7n);
});
