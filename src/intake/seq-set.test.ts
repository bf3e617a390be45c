import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { TimeWindow } from "./away-events.ts";
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
    // More than there are runs of neighbours for.
    for (let at = 1n; at < 40n; at++) add(set, at * 100_000n, 1n, unknownContent);
    expect(add(set, 3_900_000n, 1n, 6)).toBe("duplicate");
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
          const identity = `${s},${t}`;
          if (add(set, s, t) !== (known.has(identity) ? "duplicate" : "new")) expect(identity).toBe("known as it came");
          known.add(identity);
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

  it("is exact for whatever came back, when parts were let go in between", () => {
    const step = fc.oneof(
      fc.record({ from: fc.constantFrom(0n, 6000n, 2n ** 61n), count: fc.nat(15_000), ts: fc.nat(1) }),
      fc.constant("let go" as const),
      fc.constant("store" as const),
    );
    fc.assert(
      fc.property(fc.array(step, { minLength: 10, maxLength: 20 }), (steps) => {
        const set = new SeqSet();
        const known = new Map<string, [bigint, bigint]>();
        let [position, stored] = [1, 0];
        for (const each of steps) {
          position++;
          set.position = position;
          if (each === "store") stored = position;
          else if (each === "let go") for (const part of [...set.settledParts(stored)]) part.letGo();
          else
            for (let at = 0; at < each.count; at += 3) {
              const [s, t] = [each.from + BigInt(at), BigInt(each.ts) * 1_000_000_000n + BigInt(at)];
              bringBack(set, s, t, known.values());
              const identity = `${s},${t}`;
              if (add(set, s, t) !== (known.has(identity) ? "duplicate" : "new"))
                expect(identity).toBe("known as it came");
              known.set(identity, [s, t]);
            }
        }
      }),
      { numRuns: 25 },
    );
  });

  it("lets go of numbers far apart too, and knows them when they came back", () => {
    const set = new SeqSet();
    const events = Array.from({ length: 140_000 }, (_, at): [bigint, bigint] => [BigInt(at) * 5000n, BigInt(at)]);
    for (const [seq, ts] of events) add(set, seq, ts);
    const before = set.byteSize;
    for (const part of [...set.settledParts(0)]) part.letGo();
    expect(set.byteSize).toBeLessThan(before / 2);
    for (const [seq, ts] of [events[50], events[70_000], events[139_999]] as [bigint, bigint][]) {
      bringBack(set, seq, ts, events);
      expect(add(set, seq, ts)).toBe("duplicate");
      expect(add(set, seq, ts + 1n)).toBe("new");
    }
  });

  it("keeps only where older events lie, and takes newer ones without asking for them", () => {
    const set = new SeqSet();
    for (let seq = 0n; seq < 1_000_000n; seq++) add(set, seq, seq * 10n);
    const before = set.byteSize;
    for (const part of [...set.settledParts(0)]) part.letGo();
    expect(set.byteSize).toBeLessThan(before / 100);
    expect(set.away.windowOf(1_000_000, 10_000_000)).toBeUndefined();
    // The run counts from the start again, later.
    expect(set.away.windowOf(5, 20_000_000)).toBeUndefined();
    const window = set.away.windowOf(500_000, 5_000_000) as TimeWindow;
    // A late event costs a small part of the run.
    expect((window.toNs - window.fromNs) / 10).toBeLessThan(140_000);
  });

  it("lets go of nothing that is not stored, and not of what the next event goes to", () => {
    const set = new SeqSet();
    for (let seq = 0n; seq < 20_000n; seq++) {
      set.position = seq < 10_000n ? 1 : 2;
      add(set, seq, seq);
    }
    const counts = [0, 1, 2].map((stored) => [...set.settledParts(stored)].length);
    expect(counts).toEqual([0, 2, 4]);
  });
});

/** As intake does before it adds an event: what the store has there comes back. */
function bringBack(set: SeqSet, seq: bigint, ts: bigint, stored: Iterable<[bigint, bigint]>): void {
  const window = set.away.windowOf(Number(seq), Number(ts));
  if (window === undefined) return;
  for (const [s, t] of stored)
    if (Number(t) >= window.fromNs && Number(t) <= window.toNs) add(set, s, t, unknownContent);
  set.away.comeBack(window);
}
