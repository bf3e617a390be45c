import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SeqRange, WorkerStart } from "#store/reader/sequences.ts";
import { Incarnations } from "./incarnations.ts";
import { toSequences } from "./sequences.ts";

const start = (worker: string, tsNs: bigint): WorkerStart => ({ groupKey: "g", worker, tsNs });
const range = (
  firstSeq: bigint,
  lastSeq: bigint,
  firstNs: bigint,
  worker = "",
  more: Partial<SeqRange> = {},
): SeqRange => ({
  groupKey: "g",
  worker,
  firstSeq,
  lastSeq,
  firstNs,
  lastNs: firstNs + (lastSeq - firstSeq),
  events: Number(lastSeq - firstSeq + 1n),
  duplicates: 0,
  ...more,
});

describe("incarnations", () => {
  it("cut a worker's events by the times of its run_starts, whatever order the starts came in", () => {
    const incarnations = new Incarnations([start("a", 500n), start("a", 100n), start("a", 100n), start("b", 300n)]);
    expect([99n, 100n, 499n, 500n, 900n].map((ts) => incarnations.of("g", "a", ts))).toEqual([1, 1, 1, 2, 2]);
    expect([incarnations.countOf("g", "a"), incarnations.countOf("g", "b"), incarnations.countOf("g", "c")]).toEqual([
      2, 1, 1,
    ]);
    expect(incarnations.of("other", "a", 900n)).toBe(1);
  });
});

describe("toSequences", () => {
  it("finds the numbers that never came, from 1 on [XT-07]", () => {
    const [sequence] = toSequences(
      [range(3n, 5n, 30n), range(9n, 9n, 90n), range(12n, 20n, 120n)],
      new Incarnations([]),
    );
    expect(sequence).toMatchObject({
      incarnation: 1,
      firstSeq: 3n,
      lastSeq: 20n,
      received: 13,
      missing: 7n,
      conflicts: 0,
      gaps: [
        { fromSeq: 1n, toSeq: 2n },
        { fromSeq: 6n, toSeq: 8n },
        { fromSeq: 10n, toSeq: 11n },
      ],
    });
  });

  it("closes a gap when the late events come", () => {
    const ranges = [range(1n, 5n, 10n), range(9n, 10n, 90n), range(6n, 8n, 60n)];
    expect(toSequences(ranges, new Incarnations([]))).toMatchObject([{ missing: 0n, gaps: [], received: 10 }]);
  });

  it("counts each incarnation of each worker apart", () => {
    const ranges = [
      range(1n, 10n, 100n, "a"),
      range(1n, 4n, 500n, "a"),
      range(6n, 6n, 510n, "a"),
      range(1n, 3n, 100n, "b"),
    ];
    const sequences = toSequences(ranges, new Incarnations([start("a", 100n), start("a", 500n), start("b", 100n)]));
    expect(
      sequences.map(({ worker, incarnation, lastSeq, missing }) => [worker, incarnation, lastSeq, missing]),
    ).toEqual([
      ["a", 1, 10n, 0n],
      ["a", 2, 6n, 1n],
      ["b", 1, 3n, 0n],
    ]);
  });

  it("counts copies, and two events with one number as a conflict", () => {
    const ranges = [range(1n, 5n, 10n), range(3n, 4n, 200n), range(2n, 2n, 20n, "", { events: 0, duplicates: 7 })];
    expect(toSequences(ranges, new Incarnations([]))).toMatchObject([
      { received: 7, duplicates: 7, conflicts: 2, missing: 0n },
    ]);
  });

  it("shows at most a thousand gaps and counts all", () => {
    const ranges = Array.from({ length: 3000 }, (_, i) => range(BigInt(i * 2 + 2), BigInt(i * 2 + 2), BigInt(i)));
    const [sequence] = toSequences(ranges, new Incarnations([]));
    expect([sequence?.gaps.length, sequence?.missing]).toEqual([1000, 3000n]);
  });

  it("says the same for any cut of the same numbers into ranges, in any order", () => {
    const numbers = [1, 2, 3, 5, 6, 9, 10, 11, 12, 20];
    const expected = { missing: 10n, received: 10, lastSeq: 20n, conflicts: 0 };
    fc.assert(
      fc.property(fc.array(fc.boolean(), { minLength: 10, maxLength: 10 }), fc.integer(), (cuts, seed) => {
        const ranges: SeqRange[] = [];
        for (const [i, seq] of numbers.entries()) {
          const last = ranges.at(-1);
          if (last !== undefined && last.lastSeq === BigInt(seq - 1) && !cuts[i]) {
            ranges[ranges.length - 1] = range(last.firstSeq, BigInt(seq), last.firstNs);
          } else ranges.push(range(BigInt(seq), BigInt(seq), BigInt(seq * 10)));
        }
        const order = ranges.map((_, i) => (i * 7 + Math.abs(seed % 97)) % 101);
        const shuffled = ranges.toSorted((a, b) => (order[ranges.indexOf(a)] ?? 0) - (order[ranges.indexOf(b)] ?? 0));
        expect(toSequences(shuffled, new Incarnations([]))).toMatchObject([expected]);
      }),
    );
  });
});
