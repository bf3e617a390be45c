import { expect, test } from "vitest";
import { alignCollectives, type CollectiveEntry, type RankRecord } from "./collectives.ts";

const entry = (seq: number, more: Partial<CollectiveEntry> = {}): CollectiveEntry => ({
  group: "default_pg",
  seq,
  op: "nccl:all_reduce",
  state: "completed",
  shape: "[[1024]] Float",
  frame: "train.py:88 step",
  ...more,
});
const rank = (number: number, entries: CollectiveEntry[]): RankRecord => ({
  rank: number,
  entries,
  groups: { default_pg: [0, 1, 2] },
});
const upTo = (last: number, from = 1) => Array.from({ length: last - from + 1 }, (_, at) => entry(from + at));

test("the rank that never joined is named, with those who wait for it", () => {
  const found = alignCollectives([
    rank(0, [...upTo(811), entry(812, { state: "started" })]),
    rank(1, upTo(811)),
    rank(2, [...upTo(811), entry(812, { state: "started" })]),
  ]);
  expect(found).toMatchObject({ seq: 812, op: "nccl:all_reduce", ranks: [1] });
  expect(found?.text).toBe(
    "Rank 1 never joined nccl:all_reduce #812 of the process group default_pg; Ranks 0, 2 waited in it.",
  );
  expect(found?.evidence[0]).toBe("rank 1: its last was #811");
});

test("ranks that do different things at the same place are told apart", () => {
  const found = alignCollectives([
    rank(0, upTo(6)),
    rank(1, [...upTo(4), entry(5, { op: "nccl:broadcast" }), entry(6)]),
    rank(2, upTo(6)),
  ]);
  expect(found).toMatchObject({ seq: 5, ranks: [1] });
  expect(found?.text).toContain("nccl:broadcast [[1024]] Float where the others did nccl:all_reduce [[1024]] Float");
  const sizes = alignCollectives([rank(0, upTo(3)), rank(1, [entry(1), entry(2, { shape: "[[7]] Float" }), entry(3)])]);
  expect(sizes?.seq).toBe(2);
});

test("a rank without a record is named when the others hang together", () => {
  const hanging = [...upTo(4), entry(5, { state: "started" })];
  const found = alignCollectives([rank(0, hanging), rank(1, hanging)]);
  expect(found).toMatchObject({ seq: 5, ranks: [2] });
  expect(found?.text).toContain("Rank 2 left no record.");
});

test("records that begin at different places are compared where they overlap", () => {
  expect(alignCollectives([rank(0, upTo(20, 5)), rank(1, upTo(20, 12)), rank(2, upTo(20, 9))])).toBeNull();
});

test("nothing is said of a job whose collectives were all completed, or that has none", () => {
  expect(alignCollectives([rank(0, upTo(9)), rank(1, upTo(9)), rank(2, upTo(9))])).toBeNull();
  expect(alignCollectives([])).toBeNull();
});

test("sequence numbers far apart cost no more than those that were recorded", () => {
  const records = [rank(0, [entry(1), entry(2 ** 53)]), rank(1, [entry(1), entry(2 ** 53, { state: "started" })])];
  expect(alignCollectives(records)).toMatchObject({ seq: 2 ** 53, ranks: [2] });
});
