// What is read again and what is not, over rows that stand in a journal of their own.

import { expect, test } from "vitest";
import { Kept } from "#query/kept.ts";
import type { Fingerprint, StoredRows } from "#store/reader/fingerprint.ts";
import type { RowRange, TimelineTable } from "#store/reader/timeline.ts";
import { KeptTimelines, type Timeline, type TimelineReads } from "./kept-timelines.ts";
import { type PlainMark, type PlainSpan, toMarkBlock, toSpanBlock } from "./span-block.testing.ts";
import { toBoxes } from "./window.ts";

type Row = { readonly jpos: number } & PlainSpan;
type MarkRow = { readonly jpos: number } & PlainMark;

class Rows implements TimelineReads {
  spanRows: Row[] = [];
  markRows: MarkRow[] = [];
  /** How many spans and marks were read. */
  read = 0;
  merges = 0;
  whileReading: () => void = () => {};

  async parts(): Promise<string> {
    return JSON.stringify([this.merges, this.spanRows, this.markRows]);
  }

  async state(_: readonly string[], before: Readonly<Record<TimelineTable, bigint>>) {
    const of = (rows: readonly { readonly jpos: number }[], upTo: bigint): StoredRows => ({
      all: toFingerprint(rows),
      before: toFingerprint(rows.filter(({ jpos }) => jpos <= upTo)),
      last: BigInt(Math.max(0, ...rows.map(({ jpos }) => jpos))),
    });
    return {
      spans: of(this.spanRows, before.spans),
      nodes: of([], before.nodes),
      marks: of(this.markRows, before.marks),
    };
  }

  async *spans(table: "spans" | "nodes", range: RowRange) {
    if (table === "nodes") return;
    this.whileReading();
    const rows = this.spanRows.filter(isIn(range));
    this.read += rows.length;
    if (rows.length > 0) yield toSpanBlock(rows);
  }

  async *marks(range: RowRange) {
    const rows = this.markRows.filter(isIn(range));
    this.read += rows.length;
    if (rows.length > 0) yield toMarkBlock(rows);
  }

  async oddIds() {
    return [];
  }
}

function toFingerprint(rows: readonly object[]): Fingerprint {
  return { rows: rows.length, sum: JSON.stringify(rows) };
}

function isIn({ after, last }: RowRange) {
  return ({ jpos }: { readonly jpos: number }): boolean => jpos > after && jpos <= last;
}

const never = new AbortController().signal;
const spanAt = (jpos: number, more: Partial<Row> = {}): Row => ({
  jpos,
  id: `span ${jpos}`,
  start: jpos * 10,
  end: jpos * 10 + 5,
  ...more,
});

function countOf(timeline: Timeline | { readonly tooMany: number }): number {
  const { layout } = timeline as Timeline;
  return toBoxes(layout, { from: 0, to: 1e9, widthPx: 1e9, names: null, lane: null }).total;
}

test("reads nothing again while no row has come or gone, also when the engine has merged its parts", async () => {
  const rows = new Rows();
  rows.spanRows = [spanAt(1), spanAt(2)];
  const timelines = new KeptTimelines(rows, new Kept());
  const first = await timelines.get(["g"], never);
  expect(countOf(first)).toBe(2);
  expect(await timelines.get(["g"], never)).toBe(first);
  rows.merges++;
  expect(await timelines.get(["g"], never)).toBe(first);
  expect(rows.read).toBe(2);
});

test("reads only the rows that came since, and lays them out with the others", async () => {
  const rows = new Rows();
  rows.spanRows = [spanAt(3, { parent: "root" }), spanAt(4)];
  const timelines = new KeptTimelines(rows, new Kept());
  const early = (await timelines.get(["g"], never)) as Timeline;
  expect(early.layout.spans.count).toBe(3);
  rows.spanRows.push(spanAt(5, { id: "root", start: 0, end: 90 }));
  rows.markRows.push({ jpos: 5, span: "root", name: "loss", at: 40 });
  const late = (await timelines.get(["g"], never)) as Timeline;
  expect(rows.read).toBe(4);
  // The placeholder has gone, and the root stands above all.
  expect(late.layout.spans.count).toBe(3);
  expect(late.layout.spans.baseNs).toBe(0n);
  expect(late.layout.rows.map(({ from, to }) => to - from)).toEqual([1, 2]);
  expect(late.marks.at).toEqual(Float64Array.of(40));
});

test("reads everything again when an earlier row has gone or one has come before the last", async () => {
  const rows = new Rows();
  rows.spanRows = [spanAt(1), spanAt(2), spanAt(5)];
  const timelines = new KeptTimelines(rows, new Kept());
  await timelines.get(["g"], never);
  rows.spanRows.splice(0, 1);
  expect(countOf(await timelines.get(["g"], never))).toBe(2);
  rows.spanRows.push(spanAt(4));
  expect(countOf(await timelines.get(["g"], never))).toBe(3);
  expect(rows.read).toBe(3 + 2 + 3);
});

test("does not keep what rows were written into while it was read", async () => {
  const rows = new Rows();
  rows.spanRows = [spanAt(1), spanAt(7)];
  rows.whileReading = () => {
    rows.whileReading = () => {};
    rows.spanRows.push(spanAt(3));
  };
  const timelines = new KeptTimelines(rows, new Kept());
  await timelines.get(["g"], never);
  rows.read = 0;
  expect(countOf(await timelines.get(["g"], never))).toBe(3);
  expect(rows.read).toBe(3);
});

test("is not harmed by a read that fails half way", async () => {
  const rows = new Rows();
  rows.spanRows = [spanAt(1)];
  const timelines = new KeptTimelines(rows, new Kept());
  await timelines.get(["g"], never);
  rows.spanRows.push(spanAt(2));
  rows.whileReading = () => {
    throw new Error("the engine went away");
  };
  await expect(timelines.get(["g"], never)).rejects.toThrow("went away");
  rows.whileReading = () => {};
  expect(countOf(await timelines.get(["g"], never))).toBe(2);
});

test("reads for several callers at once only once", async () => {
  const rows = new Rows();
  rows.spanRows = [spanAt(1), spanAt(2)];
  const timelines = new KeptTimelines(rows, new Kept());
  const all = await Promise.all([1, 2, 3].map(() => timelines.get(["g"], never)));
  expect(all.map(countOf)).toEqual([2, 2, 2]);
  expect(rows.read).toBe(2);
});

test("lets go of the timeline that was longest not asked for, and says when a run has too many spans", async () => {
  const rows = new Rows();
  rows.spanRows = [spanAt(1)];
  const timelines = new KeptTimelines(rows, new Kept(1), 2);
  for (const group of ["a", "b", "b", "a"]) await timelines.get([group], never);
  expect(rows.read).toBe(3);
  rows.spanRows.push(spanAt(2), spanAt(3));
  expect(await timelines.get(["a"], never)).toEqual({ tooMany: 3, most: 2 });
});
