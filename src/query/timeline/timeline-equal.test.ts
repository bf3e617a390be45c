// The timeline's columns beside the same answer worked out from plain objects, slowly and without any column.

import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { atOnce } from "#base/turns.ts";
import { timelineFlags } from "#store/reader/timeline.ts";
import { layOut } from "./layout.ts";
import { layOutMarks, TimelineMarks, toTicks } from "./marks.ts";
import { hexOf, type PlainMark, type PlainSpan, toMarkBlock, toSpanBlock } from "./span-block.testing.ts";
import { TimelineSpans } from "./spans.ts";
import { toBoxes } from "./window.ts";

interface Placed extends PlainSpan {
  readonly shownId: string;
  readonly flags: number;
  depth: number;
  /** When it was put into its row. */
  turn: number;
}

interface Box {
  lane: string;
  depth: number;
  name: string;
  start: number;
  end: number;
  gpu: number | null;
  merged: number;
  id: string;
  flags: number;
}

const byId = (a: string, b: string) => (hexOf(a) < hexOf(b) ? -1 : 1);
const lanesOf = (spans: readonly Placed[]) =>
  Map.groupBy(
    spans.toSorted((a, b) => a.start - b.start || ((a.lane as string) < (b.lane as string) ? -1 : 1)),
    (span) => span.lane as string,
  );

function slowLayout(plain: readonly PlainSpan[]): Placed[] {
  const known = new Set(plain.map(({ id }) => id));
  const isOrphan = ({ parent }: PlainSpan) => parent !== null && parent !== undefined && !known.has(parent);
  const order = (a: PlainSpan, b: PlainSpan) => a.start - b.start || b.end - a.end || byId(a.id, b.id);
  const placed = plain.map(
    (span): Placed => ({
      ...span,
      shownId: hexOf(span.id),
      flags: isOrphan(span) ? timelineFlags.orphan : 0,
      depth: 0,
      turn: 0,
    }),
  );
  for (const [parent, children] of Map.groupBy(plain.filter(isOrphan), (span) => span.parent as string)) {
    const first = children.toSorted((a, b) => laneNumber(plain, a) - laneNumber(plain, b) || order(a, b))[0];
    placed.push({
      id: parent,
      shownId: createHash("md5")
        .update(`placeholder${hexOf(parent)}`)
        .digest("hex"),
      start: Math.min(...children.map(({ start }) => start)),
      end: Math.max(...children.map(({ end }) => end)),
      name: children.some(({ name }) => name === "epoch") ? "session (not arrived)" : "not arrived",
      lane: (first as PlainSpan).lane as string,
      flags: timelineFlags.placeholder,
      depth: 0,
      turn: 0,
    });
  }
  const isFirst = (a: Placed, b: Placed) =>
    (b.flags & timelineFlags.placeholder) - (a.flags & timelineFlags.placeholder);
  for (const lane of lanesOf(placed).values()) {
    const freeAt: number[] = [];
    let turn = 0;
    for (const span of lane.toSorted(
      (a, b) => a.start - b.start || b.end - a.end || isFirst(a, b) || byId(a.id, b.id),
    )) {
      const free = freeAt.findIndex((time) => time <= span.start);
      span.turn = turn++;
      span.depth = free < 0 ? freeAt.length : free;
      freeAt[span.depth] = Math.max(span.end, span.start);
    }
  }
  return placed;
}

/** Lanes are numbered as they are first met. */
function laneNumber(plain: readonly PlainSpan[], span: PlainSpan): number {
  return [...new Set(plain.map(({ lane }) => lane))].indexOf(span.lane);
}

function slowBoxes(placed: readonly Placed[], from: number, to: number, widthPx: number): Box[] {
  const pixel = (to - from) / widthPx;
  return [...lanesOf(placed).values()].flatMap((lane) =>
    [...Map.groupBy(lane, ({ depth }) => depth)]
      .toSorted(([a], [b]) => a - b)
      .flatMap(([, row]) => {
        const inside = row.filter(({ start, end }) => end >= from && start < to).toSorted((a, b) => a.turn - b.turn);
        const groups: Placed[][] = [];
        for (const span of inside) {
          const last = groups.at(-1);
          const before = last?.at(-1);
          const isNarrow = (one: Placed) => one.end - one.start < pixel;
          const joins = before !== undefined && isNarrow(before) && isNarrow(span) && span.start - before.end < pixel;
          if (joins) last?.push(span);
          else groups.push([span]);
        }
        return groups.map(toBox);
      }),
  );
}

function toBox(spans: readonly Placed[]): Box {
  const first = spans[0] as Placed;
  const times = new Map<string, number>();
  for (const { name, start, end } of spans)
    times.set(name as string, (times.get(name as string) ?? 0) + Math.max(end - start, 1));
  const gpus = spans.flatMap(({ gpu }) => (gpu === undefined ? [] : [gpu]));
  return {
    lane: first.lane as string,
    depth: first.depth,
    name: [...times].toSorted(([, a], [, b]) => b - a)[0]?.[0] as string,
    start: first.start,
    end: (spans.at(-1) as Placed).end,
    gpu: gpus.length === 0 ? null : gpus.reduce((sum, gpu) => sum + gpu),
    merged: spans.length,
    id: spans.length === 1 ? first.shownId : "",
    flags: spans.reduce((bits, { flags }) => bits | flags, 0),
  };
}

function slowTicks(placed: readonly Placed[], marks: readonly PlainMark[], from: number, to: number, width: number) {
  const lanes = [...lanesOf(placed).keys()];
  const laneOf = (mark: PlainMark) => placed.find(({ id, flags }) => id === mark.span && (flags & 1) === 0)?.lane ?? "";
  const pixelOf = (at: number) => (BigInt(at - from) * BigInt(width)) / BigInt(to - from);
  const inside = marks.filter(({ at }) => at >= from && at < to);
  return [...Map.groupBy(inside, (mark) => [laneOf(mark), mark.name, pixelOf(mark.at)].join()).values()].map(
    (group) => ({
      lane: Math.max(0, lanes.indexOf(laneOf(group[0] as PlainMark))),
      name: group[0]?.name,
      at: Math.min(...group.map(({ at }) => at)),
      merged: group.length,
    }),
  );
}

const span = fc.record({
  start: fc.integer({ min: 0, max: 300 }),
  length: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 90 })),
  name: fc.constantFrom("a", "b", "epoch"),
  lane: fc.constantFrom("0/1/1", "1/1/1", "0/2/1"),
  gpu: fc.option(fc.integer({ min: 0, max: 50 }), { nil: undefined }),
  parent: fc.option(fc.integer({ min: 0, max: 60 }), { nil: null }),
});
const mark = fc.record({
  span: fc.integer({ min: 0, max: 60 }).map((at) => `span ${at}`),
  name: fc.constantFrom("loss", "lr"),
  at: fc.integer({ min: 0, max: 400 }),
});

test("is the plain answer at any window, however the spans and marks came in", () => {
  fc.assert(
    fc.property(
      fc.array(span, { minLength: 1, maxLength: 50 }),
      fc.array(mark, { maxLength: 40 }),
      fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 5 }),
      fc.record({
        from: fc.integer({ min: 0, max: 300 }),
        length: fc.integer({ min: 1, max: 400 }),
        width: fc.integer({ min: 1, max: 60 }),
      }),
      (given, marks, sizes, { from, length, width }) => {
        const plain = given.map(
          ({ start, length: duration, name, lane, gpu, parent }, at): PlainSpan => ({
            id: `span ${at}`,
            parent: parent === null ? null : `span ${parent}`,
            start,
            end: start + duration,
            name,
            lane,
            ...(gpu === undefined ? {} : { gpu }),
          }),
        );
        const spans = new TimelineSpans();
        const columns = new TimelineMarks();
        // Laid out again after every part, as for a run that is looked at while it lives.
        for (let at = 0, part = 0; at < plain.length; part++) {
          const next = at + (sizes[part % sizes.length] as number);
          spans.append(toSpanBlock(plain.slice(at, next)));
          atOnce(spans.settle());
          atOnce(layOut(spans));
          const some = marks.filter((_, i) => (part === 0 ? i < 10 : false));
          if (some.length > 0) columns.append(toMarkBlock(some), spans);
          at = next;
        }
        if (marks.length > 10) columns.append(toMarkBlock(marks.slice(10)), spans);
        const layout = atOnce(layOut(spans));
        const base = Number(spans.baseNs);
        const window = { from: from - base, to: from + length - base, widthPx: width };
        const boxes = toBoxes(layout, { ...window, names: null, lane: null });
        const found = boxes.start.map((start, at): Box => {
          const one = boxes.span[at] as number;
          return {
            lane: layout.lanes[boxes.lane[at] as number]?.text as string,
            depth: boxes.depth[at] as number,
            name: spans.names.texts[boxes.name[at] as number] as string,
            start: start + base,
            end: (boxes.end[at] as number) + base,
            gpu: boxes.gpu[at] as number | null,
            merged: boxes.merged[at] as number,
            id: one < 0 ? "" : spans.idText(one),
            flags: boxes.flags[at] as number,
          };
        });
        const placed = slowLayout(plain);
        expect(found).toEqual(slowBoxes(placed, from, from + length, width));
        const ticks = toTicks(atOnce(layOutMarks(columns, layout)), window).map((tick) => ({
          ...tick,
          at: tick.at + base,
        }));
        const key = (tick: { lane: number; name: string | undefined; at: number; merged: number }) =>
          [String(tick.at).padStart(6, "0"), tick.lane, tick.name, tick.merged].join();
        expect(ticks.map(key).sort()).toEqual(
          slowTicks(placed, marks, from, from + length, width)
            .map(key)
            .sort(),
        );
      },
    ),
    { numRuns: 500 },
  );
});

test("puts every mark into its exact pixel, also where the product of time and width has more digits than a number", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 2 ** 51 - 1 }), { minLength: 1, maxLength: 30 }),
      fc.integer({ min: 2 ** 50, max: 2 ** 51 - 1 }),
      fc.integer({ min: 1, max: 16384 }),
      (times, to, width) => {
        const spans = new TimelineSpans();
        spans.append(toSpanBlock([{ id: "root", start: 0, end: 2 ** 51 }]));
        atOnce(spans.settle());
        const marks = new TimelineMarks();
        marks.append(toMarkBlock(times.map((at) => ({ span: "root", name: "loss", at }))), spans);
        const found = toTicks(atOnce(layOutMarks(marks, atOnce(layOut(spans)))), { from: 0, to, widthPx: width });
        const inside = times.filter((at) => at < to);
        const pixels = Map.groupBy(inside, (at) => (BigInt(at) * BigInt(width)) / BigInt(to));
        const expected = [...pixels.values()].map((group) => [Math.min(...group), group.length]);
        expect(found.map(({ at, merged }) => [at, merged])).toEqual(
          expected.toSorted((a, b) => (a[0] as number) - (b[0] as number)),
        );
      },
    ),
  );
});
