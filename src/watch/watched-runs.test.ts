import { expect, it } from "vitest";
import { toTrackRoom } from "#judge/track-room.ts";
import { WatchedRuns } from "./watched-runs.ts";

/** Runs of groups, which change. */
function watchGroups(runOfGroup: Record<string, string>) {
  const runs = new WatchedRuns(
    (groupKey) => runOfGroup[groupKey],
    () => toTrackRoom([]),
  );
  const hear = (groupKey: string, position: number) => runs.hear("default", groupKey, BigInt(position), position);
  const names = () => Array.from(runs.values(), ({ runId }) => runId);
  return { runs, hear, names };
}

it("goes on with what was heard of a run that is called otherwise", () => {
  const runOfGroup = { a: "guessed", b: "guessed" };
  const { runs, hear, names } = watchGroups(runOfGroup);
  const [run] = [hear("a", 1), hear("b", 2)];
  Object.assign(runOfGroup, { a: "named", b: "named" });
  runs.regroup("a");
  expect(names()).toEqual(["named"]);
  expect(hear("b", 3)).toBe(run);
  expect(run?.hasHeardWhole("a", 1n)).toBe(true);
});

it("parts a group that has become another run's, which did not hear it from the beginning", () => {
  const runOfGroup: Record<string, string> = { a: "one", b: "one" };
  const { runs, hear, names } = watchGroups(runOfGroup);
  const before = hear("a", 1);
  hear("b", 2);
  runOfGroup["b"] = "two";
  runs.regroup("b");
  const after = hear("b", 3);
  expect(names()).toEqual(["one", "two"]);
  expect(after).not.toBe(before);
  expect([before?.hasHeardWhole("b", 2n), after?.hasHeardWhole("b", 2n)]).toEqual([false, false]);
});

it("does not take one run for another that is watched already", () => {
  const runOfGroup: Record<string, string> = { a: "one", b: "two" };
  const { runs, hear, names } = watchGroups(runOfGroup);
  hear("a", 1);
  const two = hear("b", 2);
  runOfGroup["a"] = "two";
  runs.regroup("a");
  expect(names()).toEqual(["one", "two"]);
  expect(hear("a", 3)).toBe(two);
  // Told in full it would leave out what came of the group while it was another's.
  expect(two?.hasHeardWhole("a", 1n)).toBe(false);
});

it("forgets the groups of a run with it", () => {
  const runOfGroup: Record<string, string> = { a: "one" };
  const { runs, hear, names } = watchGroups(runOfGroup);
  const run = hear("a", 1);
  if (run !== undefined) runs.forget(run);
  runOfGroup["a"] = "two";
  runs.regroup("a");
  expect(names()).toEqual([]);
});

it("remembers ten thousand runs that go on, and looks at them in turn", () => {
  const runs = new WatchedRuns(
    (key: string) => key,
    () => toTrackRoom([]),
  );
  const names = Array.from({ length: 12_000 }, (_, at) => `run ${at}`);
  const hear = (position: number) => names.map((name) => runs.hear("default", name, 1n, position));
  const before = hear(1);
  const looks: number[] = [];
  for (let nowNs = 1n; nowNs < 10n; nowNs++) {
    const due = runs.dueAt(nowNs);
    looks.push(due.length);
    for (const run of due) Object.assign(run, { lookedNs: Number(nowNs), isDue: false });
  }
  // Those that nobody has looked at yet are many at a time.
  expect(looks).toEqual([2000, 2000, 2000, 2000, 2000, 2000, 0, 0, 0]);
  expect(hear(2).every((run, at) => run === before[at])).toBe(true);
  const [first] = [runs.dueAt(20n), hear(3)];
  expect(first).toHaveLength(600);
  expect(first.every(({ lookedNs }) => lookedNs === 1)).toBe(true);
});

it("forgets runs that are over while memory is short, and those that go on only where they are too many", () => {
  let isTight = false;
  const runs = new WatchedRuns(
    (key: string) => key,
    () => toTrackRoom([]),
    () => isTight,
  );
  const hear = (from: number, to: number) => {
    for (let at = from; at < to; at++) {
      const run = runs.hear("default", `run ${at}`, 1n, at + 1);
      // Every other one is over.
      if (run !== undefined) Object.assign(run, { lookedNs: 1, isDue: false, isOpen: at % 2 === 0 });
    }
  };
  const names = () => Array.from(runs.values(), ({ runId }) => Number(runId.slice(4)));
  hear(0, 8000);
  expect(names()).toHaveLength(8000);
  isTight = true;
  hear(8000, 9000);
  const left = names();
  expect(left.length).toBeLessThan(5500);
  expect(left.filter((name) => name % 2 === 0)).toHaveLength(4500);
  hear(9000, 9100);
  expect(names().filter((name) => name % 2 === 0)).toHaveLength(4550);
});
