import { expect, test } from "vitest";
import { straightenJoins } from "./straighten-joins.ts";

const joined = (run_id: string, into_run: string, version: number) => ({
  ...{ workspace: "w", run_id, into_run, parted: 0, author: "" },
  version: BigInt(version),
});
/** The joins that hold once the corrections are stored. */
function straight(rows: readonly ReturnType<typeof joined>[]): string[] {
  const all = new Map([...rows, ...straightenJoins(rows)].map((row) => [row.run_id, row]));
  return [...all.values()].filter(({ parted }) => parted === 0).map(({ run_id, into_run }) => `${run_id}>${into_run}`);
}

test("joins that lead to a run at once stay as they are", () => {
  expect(straightenJoins([joined("a", "c", 1), joined("b", "c", 2)])).toEqual([]);
});

test("a chain leads to its end", () => {
  expect(straight([joined("a", "b", 3), joined("b", "c", 2), joined("c", "d", 1)])).toEqual(["a>d", "b>d", "c>d"]);
});

test("a circle leads to the run that was joined to last, and takes along what leads into it", () => {
  const circle = [joined("a", "b", 1), joined("b", "c", 5), joined("c", "a", 3), joined("x", "a", 9)];
  expect(straight(circle)).toEqual(["a>c", "b>c", "x>c"]);
  expect(straight(circle.toReversed()).sort()).toEqual(["a>c", "b>c", "x>c"]);
});

test("of two joins of the same time, everybody takes the same for the last", () => {
  const circle = [joined("a", "b", 1), joined("b", "a", 1)];
  expect(straight(circle)).toEqual(["b>a"]);
  expect(straight(circle.toReversed())).toEqual(["b>a"]);
});
