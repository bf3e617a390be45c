import { expect, test } from "vitest";
import type { LogRow } from "#api/contract/record.ts";
import { addLevels, appendLines, emptyTail, growTail, linesMax, type TailLine } from "./log-tail.ts";

function line(id: string, ts: number, msg = "a line", level = "info", worker = "w0"): LogRow {
  return { id, ts_ns: String(1_000 + ts), msg, level, worker } as LogRow;
}

const ids = (rows: readonly LogRow[]) => rows.map((row) => row.id);

test("appends what arrived since and shows a line once", () => {
  const answer = [line("1", 1), line("2", 2)];
  expect(ids(appendLines(answer, [line("2", 2), line("3", 3)], {}))).toEqual(["1", "2", "3"]);
  expect(appendLines(answer, [line("2", 2)], {})).toBe(answer);
});

test("puts a late line where its time is", () => {
  expect(ids(appendLines([line("1", 1), line("3", 3)], [line("2", 2)], {}))).toEqual(["1", "2", "3"]);
});

test("holds new lines against the same question the answer was asked", () => {
  const tail = [
    line("1", 1, "Loss is NaN", "error"),
    line("2", 2, "step done"),
    line("3", 3, "loss 2", "info", "w1"),
    line("4", 9, "loss 3"),
  ];
  expect(ids(appendLines([], tail, { q: "LOSS" }))).toEqual(["1", "3", "4"]);
  expect(ids(appendLines([], tail, { level: ["error"] }))).toEqual(["1"]);
  expect(ids(appendLines([], tail, { worker: ["w1"] }))).toEqual(["3"]);
  expect(ids(appendLines([], tail, { from_ns: "1002", to_ns: "1009" }))).toEqual(["2", "3"]);
});

test("counts the levels of new lines, whatever level is shown", () => {
  const since = [line("1", 1, "x", "error"), line("2", 2, "x"), line("3", 3, "y")];
  expect(addLevels({ info: 5 }, since, { level: ["error"], q: "x" })).toEqual({ info: 6, error: 1 });
});

test("holds the newest lines, or under a reader the oldest, counts all, and says which was dropped last", () => {
  const lines = (from: number, count: number): TailLine[] =>
    Array.from({ length: count }, (_, i) => ({ row: line(String(from + i), from + i), event: `c-${from + i}` }));
  const full = growTail(emptyTail, lines(0, linesMax), false);
  expect(full).toMatchObject({ arrived: linesMax, dropped: "" });
  const read = growTail(full, lines(linesMax, 5), true);
  expect(read).toMatchObject({ arrived: linesMax + 5, dropped: `c-${linesMax + 4}` });
  expect(read.lines).toEqual(full.lines);
  const followed = growTail(full, lines(linesMax, 5), false);
  expect(followed).toMatchObject({ arrived: linesMax + 5, dropped: "c-4" });
  expect(followed.lines).toEqual([...full.lines, ...lines(linesMax, 5)].slice(5));
  // Followed again after reading, what was dropped under the reader is still what an answer must hold.
  expect(growTail(read, lines(linesMax + 5, 1), false).dropped).toBe(`c-${linesMax + 4}`);
});
