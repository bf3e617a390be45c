import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SeqSet, unknownContent } from "./seq-set.ts";

const words = (value: bigint): [number, number] => [Number(value & 0xffffffffn), Number(value >> 32n)];
const add = (set: SeqSet, seq: bigint, ts: bigint, content = 7) => set.add(...words(seq), ...words(ts), content);

describe("SeqSet", () => {
  it("knows an event by sequence number and time together", () => {
    const set = new SeqSet();
    expect(add(set, 1n, 100n)).toBe("new");
    expect(add(set, 1n, 100n)).toBe("duplicate");
    expect(add(set, 1n, 101n)).toBe("new");
    expect(add(set, 1n, 101n)).toBe("duplicate");
    expect(add(set, 2n, 100n)).toBe("new");
    expect(set.size).toBe(3);
  });

  it("tells a copy from another event with the same identity, unless its content is not known", () => {
    const set = new SeqSet();
    add(set, 1n, 1n, 5);
    expect(add(set, 1n, 1n, 6)).toBe("conflict");
    add(set, 2n, 1n, unknownContent);
    expect(add(set, 2n, 1n, 6)).toBe("duplicate");
    add(set, 2n ** 60n, 1n, 8);
    expect([add(set, 2n ** 60n, 1n, 8), add(set, 2n ** 60n, 1n, 12)]).toEqual(["duplicate", "conflict"]);
  });

  it("is an exact set for any numbers in any order", () => {
    const seq = fc.oneof(fc.bigInt(0n, 40n), fc.bigInt(0n, 5000n), fc.bigInt(0n, 2n ** 63n - 1n));
    const ts = fc.oneof(fc.bigInt(0n, 3n), fc.bigInt(0n, 2n ** 63n - 1n));
    fc.assert(
      fc.property(fc.array(fc.tuple(seq, ts), { maxLength: 300 }), (events) => {
        const set = new SeqSet();
        const known = new Set<string>();
        for (const [s, t] of events) {
          expect(add(set, s, t)).toBe(known.has(`${s},${t}`) ? "duplicate" : "new");
          known.add(`${s},${t}`);
        }
        expect(set.size).toBe(known.size);
      }),
      { numRuns: 300 },
    );
  });

  it("knows what came late to places far behind, over a hundred thousand numbers", () => {
    const set = new SeqSet();
    for (let seq = 0n; seq < 100_000n; seq++) if (seq % 7n !== 0n) add(set, seq, 1n);
    for (let seq = 0n; seq < 100_000n; seq++)
      if (add(set, seq, 1n) !== (seq % 7n === 0n ? "new" : "duplicate")) expect(seq).toBe("known as it came");
    expect(set.size).toBe(100_000);
  });

  it("leaves nothing of itself in the memory that the next set gets", () => {
    const first = new SeqSet();
    for (let seq = 0n; seq < 50_000n; seq++) add(first, seq, 1n);
    first.release();
    expect([first.size, first.byteSize]).toEqual([0, 0]);
    const next = new SeqSet();
    // Every second one, so that what the first set left between them would show.
    for (let seq = 0n; seq < 50_000n; seq += 2n) add(next, seq, 1n);
    expect(next.size).toBe(25_000);
    for (let seq = 1n; seq < 50_000n; seq += 2n) add(next, seq, 1n);
    expect(next.size).toBe(50_000);
  });

  it("takes 12 to 24 bytes an event while numbers come in order, also after a restart of the run", () => {
    const set = new SeqSet();
    for (let incarnation = 0n; incarnation < 3n; incarnation++) {
      for (let seq = 1n; seq <= 100_000n; seq++) add(set, seq, seq + incarnation * 1_000_000n);
    }
    expect(set.size).toBe(300_000);
    expect(set.byteSize / set.size).toBeLessThan(24);
  });
});
