import { describe, expect, it } from "vitest";
import { encodeFrame } from "#wire/xtrack/frames.testing.ts";
import { AckQueue } from "./ack-queue.ts";
import { Outgoing, type OutgoingCounters, outgoingLimitsDefault } from "./outgoing.ts";
import type { EventOutcome } from "./ports.ts";

const ok = (seq: number | bigint, runId = "r", wid = "w"): EventOutcome => ({ runId, wid, seq, error: null });

function readFrames(given: Uint8Array): { m: { seq: number }; p: Record<string, unknown> }[] {
  const frames = [];
  const bytes = Buffer.from(given.buffer, given.byteOffset, given.length);
  for (let at = 0; at < bytes.length; ) {
    const end = at + 4 + bytes.readUInt32BE(at);
    frames.push(JSON.parse(bytes.toString("utf8", at + 4, end)));
    at = end;
  }
  return frames;
}

describe("an ack", () => {
  it("has the bytes that the wire's own encoder gives it [XT-19]", () => {
    const cases: [EventOutcome, object][] = [
      [ok(42), { run_id: "r", wid: "w" }],
      [ok(43n ** 9n, "r\u00fcn \u{1f600}\n", ""), { run_id: "r\u00fcn \u{1f600}\n" }],
      [
        { ...ok(7), error: 'p.value "is" missing' },
        { run_id: "r", wid: "w" },
      ],
    ];
    for (const [outcome, names] of cases) {
      const queue = new AckQueue(10);
      queue.push(outcome);
      const status = outcome.error === null ? "ok" : "error";
      const payload = { seq: outcome.seq, status, error: outcome.error, ...names } as const;
      const expected = encodeFrame("ack", { seq: 5, ts: 1_700_000_000_000_000 }, payload);
      const { bytes } = queue.take(1000, 5, 1_700_000_000_000_000);
      expect(Buffer.from(bytes).toString()).toBe(Buffer.from(expected).toString());
    }
  });

  it("leaves out ids so long that they would be sent back for ever", () => {
    const queue = new AckQueue(10);
    queue.push(ok(1, "r".repeat(600), "w".repeat(600)));
    expect(readFrames(queue.take(1000, 1, 1).bytes)[0]?.p).toEqual({ seq: 1, status: "ok", error: null });
  });

  it("waits as part of a range, and each event still gets its own", () => {
    const queue = new AckQueue(3);
    for (let seq = 1; seq <= 100_000; seq++) queue.push(ok(seq));
    expect(queue.push({ ...ok(100_001), error: "bad" })).toBe(true);
    expect(queue.push(ok(1, "other"))).toBe(true);
    expect(queue.push(ok(5, "third"))).toBe(false);
    const seqs: unknown[] = [];
    let next = 1;
    while (!queue.isEmpty) {
      const { bytes, count } = queue.take(64 * 1024, next, 1);
      expect(bytes.length).toBeLessThan(65 * 1024);
      const frames = readFrames(bytes);
      expect(frames.map(({ m }) => m.seq)).toEqual(Array.from({ length: count }, (_, at) => next + at));
      next += count;
      for (const { p } of frames) seqs.push(p["seq"]);
    }
    expect(seqs).toEqual([...Array.from({ length: 100_001 }, (_, at) => at + 1), 1]);
  });
});

/** A wire that sends only when told to. */
function createWire() {
  const waiting: { bytes: Uint8Array; done: (isGone: boolean) => void }[] = [];
  const sent: Uint8Array[] = [];
  let bufferedBytes = 0;
  const counters: OutgoingCounters = { acksSent: 0, acksDropped: 0, commandsSent: 0 };
  const wire = {
    write(bytes: Uint8Array, done: (isGone: boolean) => void) {
      waiting.push({ bytes, done });
      bufferedBytes += bytes.length;
    },
    bufferedBytes: () => bufferedBytes,
  };
  const send = () => {
    const first = waiting.shift();
    if (first === undefined) return false;
    sent.push(first.bytes);
    bufferedBytes -= first.bytes.length;
    first.done(true);
    return true;
  };
  return {
    outgoing: new Outgoing(wire, outgoingLimitsDefault, counters, () => 1),
    wire,
    waiting,
    sent,
    send,
    counters,
  };
}

describe("what goes out", () => {
  it("is one write for all acks of a commit", () => {
    const { outgoing, waiting } = createWire();
    outgoing.sendAcks([1, 2, 3].map((seq) => ok(seq)));
    expect(waiting.length).toBe(1);
    expect(readFrames(waiting[0]?.bytes as Uint8Array).map(({ p }) => p["seq"])).toEqual([1, 2, 3]);
  });

  it("stays within its backlog while the peer does not read, and is all sent when it does", async () => {
    const { outgoing, wire, sent, send, counters } = createWire();
    let backlogBytes = 0;
    for (let seq = 1; seq <= 50_000; seq++) {
      outgoing.sendAcks([ok(seq)]);
      if (wire.bufferedBytes() > backlogBytes) backlogBytes = wire.bufferedBytes();
    }
    const command = outgoing.sendCommand({ cmdId: "c", type: "pause", payload: "{}" }, "r", "w");
    while (send()) if (wire.bufferedBytes() > backlogBytes) backlogBytes = wire.bufferedBytes();
    expect(backlogBytes).toBeLessThan(outgoingLimitsDefault.backlogBytesMax + 65 * 1024);
    expect(await command).toBe(true);
    const frames = readFrames(Buffer.concat(sent));
    expect(frames.map(({ m }) => m.seq)).toEqual(Array.from({ length: 50_001 }, (_, at) => at + 1));
    expect(frames.filter(({ p }) => p["status"] === "ok").length).toBe(50_000);
    expect(counters).toEqual({ acksSent: 50_000, acksDropped: 0, commandsSent: 1 });
    await outgoing.idle();
  });

  it("counts acks that it gives up and turns commands away when far too many wait", async () => {
    const { outgoing, counters } = createWire();
    for (let seq = 1; seq < 20_000; seq += 2) outgoing.sendAcks([ok(seq)]);
    expect(counters.acksDropped).toBeGreaterThan(1000);
    const answers = Array.from({ length: 100 }, () =>
      outgoing.sendCommand({ cmdId: "c", type: "stop", payload: "{}" }, "r", ""),
    );
    expect(await answers.at(-1)).toBe(false);
    outgoing.close();
    expect(new Set(await Promise.all(answers))).toEqual(new Set([false]));
  });
});
