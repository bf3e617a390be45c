import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { countPauses } from "#base/turns.testing.ts";
import { atOnce } from "#base/turns.ts";
import { toFlame } from "./flame.ts";
import { layOut } from "./layout.ts";
import { toSpanBlock } from "./span-block.testing.ts";
import { TimelineSpans } from "./spans.ts";
import { toBoxes } from "./window.ts";

interface Plain {
  readonly start: number;
  readonly end: number;
  readonly name?: string;
  readonly lane?: string;
}

function toSpans(plain: readonly Plain[]): TimelineSpans {
  const spans = new TimelineSpans();
  if (plain.length > 0) spans.append(toSpanBlock(plain.map((span, at) => ({ id: String(at), ...span }))));
  atOnce(spans.settle());
  return spans;
}

/** Times are those of the spans that were given; a layout counts from the first start. */
function boxes(plain: readonly Plain[], from: number, to: number, widthPx: number) {
  const spans = toSpans(plain);
  const base = Number(spans.baseNs);
  const found = toBoxes(atOnce(layOut(spans)), { from: from - base, to: to - base, widthPx, names: null, lane: null });
  const moved = (times: readonly number[]) => times.map((time) => time + base);
  return { ...found, start: moved(found.start), end: moved(found.end) };
}

describe("laying out spans", () => {
  test("a child lies below its parent, whatever order they come in", () => {
    const found = boxes(
      [
        { start: 2, end: 4 },
        { start: 0, end: 10 },
        { start: 5, end: 9 },
        { start: 6, end: 7 },
      ],
      0,
      10,
      1000,
    );
    expect(found.start.map((start, at) => [start, found.depth[at]])).toEqual([
      [0, 0],
      [2, 1],
      [5, 1],
      [6, 2],
    ]);
  });

  test("a child that outlives its parent is shown whole, beside what comes next", () => {
    const found = boxes(
      [
        { start: 0, end: 5 },
        { start: 1, end: 8 },
        { start: 5, end: 9 },
      ],
      0,
      10,
      1000,
    );
    expect(found.end.map((end, at) => [end, found.depth[at]])).toEqual([
      [5, 0],
      [9, 0],
      [8, 1],
    ]);
  });

  test("lanes are laid out apart", () => {
    const found = boxes(
      [
        { start: 0, end: 5 },
        { start: 1, end: 2, lane: "two" },
      ],
      0,
      10,
      1000,
    );
    expect(found.depth).toEqual([0, 0]);
    expect(found.lane).toEqual([0, 1]);
  });
});

describe("the boxes of a window", () => {
  const many = Array.from({ length: 1000 }, (_, at) => ({
    start: at * 10,
    end: at * 10 + 5,
    name: at % 3 === 0 ? "a" : "b",
  }));

  test("what is narrower than a pixel is merged and counted, under the name that took most of the time", () => {
    const found = boxes(many, 0, 10_000, 10);
    expect(found.merged.reduce((sum, merged) => sum + merged, 0)).toBe(1000);
    expect(found.merged.length).toBeLessThanOrEqual(11);
    expect(new Set(found.name)).toEqual(new Set([1]));
    expect(found.span.every((span) => span === -1)).toBe(true);
  });

  test("zoomed in, every span stands for itself", () => {
    const found = boxes(many, 100, 200, 1000);
    expect(found.merged).toEqual(found.merged.map(() => 1));
    expect(found.start).toEqual([100, 110, 120, 130, 140, 150, 160, 170, 180, 190]);
  });

  test("counts exactly the spans that touch the window, at any zoom", () => {
    const span = fc.tuple(
      fc.integer({ min: 0, max: 500 }),
      fc.integer({ min: 0, max: 80 }),
      fc.integer({ min: 0, max: 1 }),
    );
    fc.assert(
      fc.property(
        fc.array(span, { maxLength: 80 }),
        fc.integer({ min: 0, max: 500 }),
        fc.integer({ min: 1, max: 300 }),
        fc.integer({ min: 1, max: 50 }),
        (spans, from, length, width) => {
          const plain = spans.map(([start, duration, lane]) => ({ start, end: start + duration, lane: String(lane) }));
          const to = from + length;
          const found = boxes(plain, from, to, width);
          const expected = plain.filter((one) => one.end >= from && one.start < to).length;
          expect(found.total).toBe(expected);
          expect(found.merged.reduce((sum, merged) => sum + merged, 0)).toBe(expected);
        },
      ),
    );
  });

  test("spans of one row never overlap", () => {
    const span = fc.tuple(fc.integer({ min: 0, max: 100 }), fc.integer({ min: 1, max: 50 }));
    fc.assert(
      fc.property(fc.array(span, { maxLength: 60 }), (spans) => {
        const layout = atOnce(layOut(toSpans(spans.map(([start, duration]) => ({ start, end: start + duration })))));
        for (const row of layout.rows)
          for (let at = row.from + 1; at < row.to; at++) {
            const before = layout.order[at - 1] as number;
            const here = layout.order[at] as number;
            expect(layout.spans.end[before]).toBeLessThanOrEqual(layout.spans.start[here] as number);
            expect(layout.start[at]).toBe(layout.spans.start[here]);
          }
      }),
    );
  });

  test("hundreds of thousands of spans are sorted and laid out with pauses", () => {
    const spans = new TimelineSpans();
    const plain = Array.from({ length: 200_000 }, (_, at) => ({ id: String(at), start: (at * 7919) % 200_003 }));
    spans.append(toSpanBlock(plain.map((span) => ({ ...span, end: span.start + 1000 }))));
    expect(countPauses(spans.addOddIds(plain.map(({ id }) => ({ id, text: id })))).pauses).toBeGreaterThan(20);
    expect(countPauses(spans.settle()).pauses).toBeGreaterThan(10);
    const { value: layout, pauses } = countPauses(layOut(spans));
    expect(pauses).toBeGreaterThan(5);
    expect([layout.order.length, layout.lanes[0]?.depth]).toEqual([200_000, 1000]);
  });
});

describe("adding up a window by path", () => {
  const plain: Plain[] = [
    { start: 0, end: 100, name: "epoch" },
    { start: 0, end: 40, name: "step" },
    { start: 10, end: 20, name: "forward" },
    { start: 50, end: 90, name: "step" },
    { start: 60, end: 70, name: "forward" },
    { start: 75, end: 80, name: "backward" },
    { start: 0, end: 30, name: "forward", lane: "1//" },
  ];

  function paths(from: number, to: number, lanes: ReadonlySet<number> | null = null) {
    const spans = toSpans(plain);
    const base = Number(spans.baseNs);
    const flame = toFlame(atOnce(layOut(spans)), { from: from - base, to: to - base, lanes });
    const pathOf = (node: number): string => {
      const name = spans.names.texts[flame.name[node] as number] as string;
      const parent = flame.parent[node] as number;
      return parent < 0 ? name : `${pathOf(parent)}/${name}`;
    };
    return Object.fromEntries(flame.name.map((_, i) => [pathOf(i), [flame.count[i], flame.wall[i]]]));
  }

  test("spans of one name under one path are one node, whenever and in whichever lane they ran", () => {
    expect(paths(0, 100)).toEqual({
      epoch: [1, 100],
      "epoch/step": [2, 80],
      "epoch/step/forward": [2, 20],
      "epoch/step/backward": [1, 5],
      forward: [1, 30],
    });
  });

  test("only what lies within the window counts, and only the lanes that are asked for", () => {
    expect(paths(15, 65)).toEqual({
      epoch: [1, 50],
      "epoch/step": [2, 40],
      "epoch/step/forward": [2, 10],
      forward: [1, 15],
    });
    const lane = atOnce(layOut(toSpans(plain))).lanes.findIndex(({ text }) => text === "1//");
    expect(paths(0, 100, new Set([lane]))).toEqual({ forward: [1, 30] });
  });

  test("its first level adds up to the time that is drawn at the top, whatever the spans", () => {
    const span = fc.record({ start: fc.nat(200), length: fc.nat(50), name: fc.constantFrom("a", "b", "c") });
    fc.assert(
      fc.property(fc.array(span, { minLength: 1, maxLength: 60 }), (list) => {
        const spans = toSpans(list.map(({ start, length, name }) => ({ start, end: start + length, name })));
        const layout = atOnce(layOut(spans));
        const flame = toFlame(layout, { from: layout.from, to: layout.to + 1, lanes: null });
        expect(flame.count.reduce((sum, count) => sum + count, 0)).toBe(list.length);
        const top = layout.rows.filter((row) => row.depth === 0);
        const drawn = top.flatMap((row) =>
          Array.from({ length: row.to - row.from }, (_, i) => layout.end[row.from + i]! - layout.start[row.from + i]!),
        );
        const sum = flame.wall.reduce((all, wall, i) => all + (flame.parent[i] === -1 ? wall : 0), 0);
        expect(sum).toBe(drawn.reduce((all, wall) => all + wall, 0));
      }),
    );
  });
});

test("a merged box says how many names it stands for", () => {
  const narrow = Array.from({ length: 30 }, (_, i) => ({
    start: i,
    end: i + 1,
    name: ["a", "b", "c"][i % 3] as string,
  }));
  const found = boxes([...narrow, { start: 100, end: 200, name: "a" }], 0, 1000, 10);
  expect(found.merged).toEqual([30, 1]);
  expect(found.names).toEqual([3, 1]);
});
