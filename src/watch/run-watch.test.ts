import { expect, it } from "vitest";
import { withDefaults } from "#judge/rule.ts";
import { createRows } from "#model/tables.ts";
import { toFiring } from "./firing.ts";
import { RunWatch } from "./run-watch.ts";

/** More than a watch keeps one by one. */
const points = 5000;

function hear(run: RunWatch): void {
  const rows = createRows("metrics");
  for (let n = 1; n <= points; n++) {
    rows.key.push("loss");
    rows.phase.push("");
    rows.worker.push("0");
    rows.step.present().pushNumber(n);
    rows.ts_ns.pushNumber(n * 10);
    rows.value.present().push(n === 100 ? Number.NaN : n);
  }
  run.sink.addPoints(rows, 0, points, 7n);
  // Whoever gave the rows uses them again.
  for (const column of [rows.key, rows.phase, rows.worker, rows.step, rows.ts_ns, rows.value]) column.clear();
  run.sink.heardNs = 7n;
}

it("remembers all that came of a run which began while it was watched, however much that was", () => {
  const run = new RunWatch("default", "r");
  run.heard("g", 5n, 1);
  hear(run);
  expect([run.hasHeardWhole("g", 5n), run.hasHeardWhole("g", 4n), run.hasHeardWhole("h", 6n)]).toEqual([
    true,
    false,
    false,
  ]);
  run.settleWhole();
  const [series] = [...run.remembered.series.values()];
  expect(series).toMatchObject({ finite: { count: points - 1 }, nonfinite: { count: 1, from: { step: 100n } } });
  expect(run.remembered).toMatchObject({ heardNs: 7n, steppedNs: 7n });
});

it("gives what the store knows of a run before what came meanwhile, and no value that is not finite is missed", () => {
  const run = new RunWatch("default", "r");
  run.heard("g", 5n, 1);
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

it("keeps what it remembers when the run is called otherwise, unless the run has more than was heard", () => {
  const run = new RunWatch("default", "r");
  run.heard("g", 5n, 1);
  hear(run);
  run.settleWhole();
  run.rename("named");
  run.recognise(["g"]);
  expect([run.runId, run.isRemembered]).toEqual(["named", true]);
  expect([...run.remembered.series.values()]).toMatchObject([{ finite: { count: points - 1 } }]);
  run.rename("joined");
  run.recognise(["g", "of another"]);
  expect(run.isRemembered).toBe(false);
  // What came before is not heard again.
  expect(run.hasHeardWhole("g", 5n)).toBe(false);
});

it("knows what a rule saw of it by the name that it has", () => {
  const run = new RunWatch("default", "r");
  const rule = withDefaults({ name: "spike", kind: "spike" });
  const signal = { text: "", evidence: [], at: { step: null, tsNs: 1n }, metric: "loss" };
  const firing = (runId: string) => toFiring({ workspace: "default", rule, runId, isArmed: true, signal, firedNs: 2n });
  run.note(firing("r"));
  run.rename("named");
  expect(run.firingsOf("spike")).toEqual([]);
  run.note(firing("named"));
  expect(run.firingsOf("spike")).toMatchObject([{ runId: "named" }]);
  run.rename("r");
  expect(run.firingsOf("spike")).toMatchObject([{ runId: "r" }]);
});

it("has news for the table of runs until that was asked with all of it stored", () => {
  const run = new RunWatch("default", "r");
  expect(run.hasNews).toBe(false);
  run.told(11);
  expect(run.hasNews).toBe(true);
  run.saw(null, 4n, 10);
  expect(run.hasNews).toBe(true);
  run.saw(null, 5n, 11);
  expect(run.hasNews).toBe(false);
});

it("has news when a worker's numbers leave a gap or close one, and none while each is the next", () => {
  const run = new RunWatch("default", "r");
  let position = 0;
  const hasNewsAfter = (worker: string, first: bigint, last: bigint): boolean => {
    run.saw(null, 1n, position);
    run.heard("g", 1n, ++position);
    run.heardNumbers("g", worker, first, last);
    return run.hasNews;
  };
  expect(hasNewsAfter("a", 1n, 4n)).toBe(true);
  expect(hasNewsAfter("a", 5n, 5n)).toBe(false);
  expect(hasNewsAfter("b", 1n, 9n)).toBe(true);
  expect(hasNewsAfter("a", 8n, 9n)).toBe(true);
  expect(hasNewsAfter("a", 6n, 7n)).toBe(true);
  expect(hasNewsAfter("a", 10n, 10n)).toBe(false);
});

it("counts how long a rule sees something from when the rule was made, and forgets it with the rule", () => {
  const run = new RunWatch("default", "r");
  expect([run.hold("slow", 1n, 10n), run.hold("slow", 1n, 20n)]).toEqual([10n, 10n]);
  expect([run.hold("slow", 25n, 30n), run.hold("slow", 25n, 40n)]).toEqual([30n, 30n]);
  run.hold("high", 1n, 40n);
  run.holdOnly(new Set(["high"]));
  expect([...run.heldNs]).toEqual([["high", 40n]]);
});
