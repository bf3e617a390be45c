import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Outbox } from "./outbox.ts";

const frame = (size: number, seq: number) => new Uint8Array(size).fill(seq);

function sendAll(outbox: Outbox, isFinal: boolean): number[] {
  const sent: number[] = [];
  for (let next = outbox.peek(); next !== null; next = outbox.peek()) {
    sent.push(next[0] as number);
    outbox.sent(isFinal);
  }
  return sent;
}

describe("sending", () => {
  it("forgets what nobody will confirm", () => {
    const outbox = new Outbox(1000, "oldest");
    for (let seq = 1; seq <= 3; seq++) outbox.push(seq, frame(10, seq), true);
    expect(sendAll(outbox, true)).toEqual([1, 2, 3]);
    expect(outbox.isEmpty).toBe(true);
  });

  it("sends the unconfirmed again after a rewind, in order", () => {
    const outbox = new Outbox(1000, "oldest");
    for (let seq = 1; seq <= 5; seq++) outbox.push(seq, frame(10, seq), true);
    sendAll(outbox, false);
    outbox.confirm(1, true);
    outbox.confirm(3, true);
    outbox.confirm(4, false);
    outbox.confirm(99, true);
    outbox.rewind();
    expect(sendAll(outbox, false)).toEqual([2, 5]);
    expect(outbox.counts).toMatchObject({ confirmed: 2, refused: 1, waitingEvents: 2, waitingBytes: 20 });
  });
});

describe("a full buffer", () => {
  it("forgets sent events first, then drops the oldest that can be missed", () => {
    const outbox = new Outbox(100, "oldest");
    outbox.push(1, frame(20, 1), false);
    outbox.push(2, frame(20, 2), true);
    sendAll(outbox, false);
    for (let seq = 3; seq <= 5; seq++) outbox.push(seq, frame(20, seq), seq !== 3);
    outbox.push(6, frame(40, 6), true);
    expect(outbox.counts).toMatchObject({ unconfirmed: 2, dropped: 0 });
    outbox.push(7, frame(20, 7), true);
    expect(outbox.counts).toMatchObject({ unconfirmed: 2, dropped: 1 });
    outbox.rewind();
    expect(sendAll(outbox, true)).toEqual([3, 5, 6, 7]);
  });

  it("drops new events when told so, but makes room for those that must not be missed", () => {
    const outbox = new Outbox(60, "newest");
    for (let seq = 1; seq <= 5; seq++) outbox.push(seq, frame(20, seq), true);
    outbox.push(6, frame(20, 6), false);
    expect(outbox.counts.dropped).toBe(3);
    expect(sendAll(outbox, true)).toEqual([2, 3, 6]);
  });

  it("keeps the start of the run to the last", () => {
    const outbox = new Outbox(60, "oldest");
    for (let seq = 1; seq <= 6; seq++) outbox.push(seq, frame(20, seq), false);
    expect(sendAll(outbox, true)).toEqual([1, 5, 6]);
  });

  it("drops an event that is larger than the whole buffer", () => {
    const outbox = new Outbox(50, "oldest");
    outbox.push(1, frame(51, 1), true);
    expect(outbox.counts).toMatchObject({ dropped: 1, waitingBytes: 0 });
  });
});

it("never holds more than its bound and accounts for every event", () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant("push" as const), size: fc.integer({ min: 1, max: 60 }), keep: fc.boolean() }),
    fc.record({ kind: fc.constant("send" as const) }),
    fc.record({ kind: fc.constant("confirm" as const), seq: fc.integer({ min: 1, max: 60 }) }),
    fc.record({ kind: fc.constant("rewind" as const) }),
  );
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 200 }),
      fc.constantFrom("oldest" as const, "newest" as const),
      (steps, policy) => {
        const outbox = new Outbox(100, policy);
        let seq = 0;
        for (const action of steps) {
          if (action.kind === "push") outbox.push(++seq, frame(action.size, seq), !action.keep);
          if (action.kind === "send" && outbox.peek() !== null) outbox.sent(false);
          if (action.kind === "confirm") outbox.confirm(action.seq, true);
          if (action.kind === "rewind") outbox.rewind();
          const { waitingBytes, waitingEvents, confirmed, dropped, unconfirmed } = outbox.counts;
          expect(waitingBytes).toBeLessThanOrEqual(100);
          expect(waitingEvents + confirmed + dropped + unconfirmed).toBe(seq);
        }
        outbox.rewind();
        const sent = sendAll(outbox, true);
        expect(sent).toEqual([...sent].sort((a, b) => a - b));
      },
    ),
  );
});
