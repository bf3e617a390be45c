import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { UnfinishedBytes } from "#server/unfinished-bytes.ts";
import { encodeFrame } from "#wire/xtrack/frames.testing.ts";
import { Congestion, flyingBytesMax } from "./congestion.ts";
import { IntakeSink } from "./intake-sink.ts";
import type { IntakeCounters } from "./ports.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function createCounters(): IntakeCounters {
  return { records: 0, events: 0, lost: 0, gatheredBytes: 0, flyingBytes: 0, heldBytes: 0 };
}

describe("workers that send faster than the disk writes", () => {
  const megabyte = 1024 * 1024;
  let counters: IntakeCounters;
  let congestion: Congestion;
  const waiter = { hearDisk: vi.fn(), hearRoom: vi.fn() };

  beforeEach(() => {
    counters = createCounters();
    congestion = new Congestion(counters, 40 * megabyte);
    vi.clearAllMocks();
  });
  afterEach(() => congestion.close());

  it("wait if they have much on their way, until the disk has caught up a little", () => {
    Object.assign(counters, { gatheredBytes: 20 * megabyte, flyingBytes: 10 * megabyte, heldBytes: 10 * megabyte });
    expect(congestion.mustWait(waiter, megabyte)).toBe(false);
    counters.gatheredBytes++;
    expect([congestion.mustWait(waiter, 4096), congestion.mustWait(waiter, 4097)]).toEqual([false, true]);
    counters.heldBytes -= 3 * megabyte;
    congestion.ease();
    expect([waiter.hearRoom.mock.calls.length, congestion.mustWait(waiter, megabyte)]).toEqual([0, true]);
    counters.flyingBytes -= 2 * megabyte;
    congestion.ease();
    expect([waiter.hearRoom.mock.calls.length, congestion.mustWait(waiter, megabyte)]).toEqual([1, false]);
  });

  it("wait as long as the disk gets on, and are read when it has taken nothing for a second", async () => {
    counters.flyingBytes = 50 * megabyte;
    expect(congestion.mustWait(waiter, megabyte)).toBe(true);
    for (let write = 0; write < 5; write++) {
      await vi.advanceTimersByTimeAsync(900);
      congestion.move();
    }
    expect([waiter.hearRoom.mock.calls.length, congestion.isHeld]).toEqual([0, true]);
    await vi.advanceTimersByTimeAsync(1300);
    expect([waiter.hearRoom.mock.calls.length, congestion.isHeld]).toEqual([1, false]);
    expect(congestion.mustWait(waiter, megabyte)).toBe(false);
    congestion.move();
    expect(congestion.mustWait(waiter, megabyte)).toBe(true);
  });

  it("are forgotten once they have left", () => {
    counters.flyingBytes = 50 * megabyte;
    congestion.mustWait(waiter, megabyte);
    congestion.isDiskBusy(waiter);
    congestion.leave(waiter);
    counters.flyingBytes = 0;
    congestion.ease();
    expect(waiter.hearRoom).not.toHaveBeenCalled();
    expect(waiter.hearDisk).not.toHaveBeenCalled();
  });
});

it("gives the disk two writes' worth of records; the rest waits as it came, also at a stream's end", async () => {
  const sync: (() => void)[] = [];
  const taken: number[] = [];
  const sink = new IntakeSink({
    submit({ body }) {
      taken.push(body.length);
      const { promise, resolve } = Promise.withResolvers<number>();
      sync.push(() => resolve(0));
      return {
        durable: promise,
        applied: promise.then(() => ({ position: 0, accepted: 0, duplicates: 0, faults: [] })),
      };
    },
    hasRoom: () => true,
    nowNs: () => 0n,
    runOf: (_, runId) => runId,
    isFollowed: () => false,
    unfinished: new UnfinishedBytes(1e9),
    frameBytesMax: 1e6,
    gatheredBytesMax: 1e8,
    heldBytesMax: 1e8,
  });
  const nothing = () => undefined;
  const heard = { onAsk: nothing, onWorker: nothing, onOutcomes: nothing, onRoom: nothing, onNoRoom: nothing };
  const events = {
    ...heard,
    onRest: () => false,
    onWake: nothing,
    onCollect: nothing,
    onRise: nothing,
    onAck: nothing,
  };
  const open = () =>
    sink.openStream({ transport: "tcp", peer: "", workspace: "lab", source: "", runOverride: null }, events);
  const frame = (seq: number, length: number) =>
    encodeFrame("log", { seq, ts: seq, wid: "w" }, { run_id: "r", level: "info", msg: "x".repeat(length) });
  const settle = async () => {
    for (let turn = 0; turn < 20; turn++) await vi.advanceTimersByTimeAsync(1);
  };
  const [loud, ending, little] = [open(), open(), open()];
  let pushed = 0;
  for (let seq = 1; seq <= 50; seq++) {
    loud.push(frame(seq, 500_000));
    pushed += frame(seq, 500_000).length;
  }
  await settle();
  const before = taken.length;
  const last = frame(51, 50_000);
  ending.push(last);
  const ended = ending.end("eof");
  little.push(frame(52, 10));
  await settle();
  expect(taken.slice(before)).toEqual([frame(52, 10).length]);
  expect(sink.counters.flyingBytes).toBeGreaterThan(flyingBytesMax);
  expect(sink.counters.flyingBytes).toBeLessThan(flyingBytesMax + 1e6);
  while (sync.length > 0) {
    sync.shift()?.();
    await settle();
  }
  await ended;
  expect(taken.reduce((sum, bytes) => sum + bytes)).toBe(pushed + last.length + frame(52, 10).length);
  expect(sink.counters).toMatchObject({ lost: 0, flyingBytes: 0, gatheredBytes: 0 });
  sink.close();
});
