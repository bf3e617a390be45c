import fc from "fast-check";
import { expect, test } from "vitest";
import type { SpansAnswer, SpansQuery } from "#api/contract/span.ts";
import { findMatch, type MatchSearch } from "./find-match.ts";

interface Plain {
  readonly start: number;
  readonly end: number;
}

/** A server of one lane that merges as the real one does. */
function serverOf(spans: readonly Plain[]): MatchSearch {
  const ask = async ({ from_ns = "0", to_ns = "0", width = 1 }: SpansQuery): Promise<SpansAnswer> => {
    const [from, to] = [Number(from_ns), Number(to_ns)];
    const pixel = (to - from) / width;
    const boxes: { start: number; end: number; merged: number; id: string }[] = [];
    spans.forEach(({ start, end }, i) => {
      if (end < from || start >= to) return;
      const last = boxes.at(-1);
      const narrow = end - start < pixel;
      if (narrow && last !== undefined && last.end - last.start < pixel * last.merged && start - last.end < pixel) {
        Object.assign(last, { end, merged: last.merged + 1, id: "" });
      } else boxes.push({ start, end, merged: 1, id: String(i) });
    });
    const column = <K extends keyof (typeof boxes)[number]>(name: K) => boxes.map((box) => box[name]);
    const zeros = boxes.map(() => 0);
    return {
      base_ns: "0",
      window: { from, to },
      marks: { lane: [], name: [], at: [], merged: [] },
      spans: {
        lane: zeros,
        depth: zeros,
        start: column("start"),
        end: column("end"),
        merged: column("merged"),
        id: column("id"),
      },
    } as unknown as SpansAnswer;
  };
  const end = Math.max(0, ...spans.map((span) => span.end));
  return { pattern: "*x*", startNs: "0", extent: { from: 0, to: end }, ask };
}

test("goes from match to match, forwards and back, however many a pixel holds", async () => {
  const gap = fc.integer({ min: 1, max: 5_000_000 });
  await fc.assert(
    fc.asyncProperty(fc.array(gap, { minLength: 1, maxLength: 40 }), async (gaps) => {
      let at = 0;
      const spans = gaps.map((each) => {
        at += each;
        const start = at;
        at += 3;
        return { start, end: at };
      });
      const search = serverOf(spans);
      const seen: number[] = [];
      for (let t = -1; ; ) {
        const found = await findMatch(search, t, 1);
        if (found === null) break;
        seen.push(found.from);
        t = found.from;
      }
      expect(seen).toEqual(spans.map((span) => span.start));
      const back: number[] = [];
      for (let t = at + 1; ; ) {
        const found = await findMatch(search, t, -1);
        if (found === null) break;
        back.push(found.from);
        t = found.from;
      }
      expect(back).toEqual(seen.toReversed());
    }),
    { numRuns: 40 },
  );
});
