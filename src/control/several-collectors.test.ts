import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { OtherCollectors } from "./control.ts";
import {
  createRoom,
  createWorker,
  fromRecord,
  news,
  order,
  runId,
  settle,
  stateOf,
  workspace,
} from "./room.testing.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Two collectors: every step of one reaches the other, and each may ask the other. `c1` is owned by the first. */
function createPair() {
  const asked: string[] = [];
  const state = { isFirstUp: true };
  const rooms: ReturnType<typeof createRoom>[] = [];
  const othersOf = (self: number): OtherCollectors => ({
    isOurs: () => self === 0 || !state.isFirstUp,
    async claim(cmdId, worker) {
      asked.push(`${cmdId} ${worker}`);
      return state.isFirstUp && (rooms[0]?.control.grant(cmdId, worker) ?? false);
    },
    unclaim: (cmdId, worker) => rooms[0]?.control.ungrant(cmdId, worker),
    accepting: () => rooms[1 - self]?.control.acceptingAll().map(({ worker }) => worker) ?? [],
  });
  rooms.push(createRoom([], othersOf(0)), createRoom([], othersOf(1)));
  const [first, second] = rooms as [ReturnType<typeof createRoom>, ReturnType<typeof createRoom>];
  for (const { control } of rooms) control.ready();
  const share = () => {
    for (const [from, to] of [
      [first, second],
      [second, first],
    ] as const)
      for (const record of from.journal) to.control.fold(fromRecord(record));
  };
  return { first: first.control, second: second.control, asked, state, share };
}

describe("commands among several collectors", () => {
  it("are handed over by the collector that has the worker, with the owner's word, and both tell the same", async () => {
    const { first, second, asked, share } = createPair();
    const worker = createWorker(second, "w0");
    await first.post(order());
    share();
    await settle();
    share();
    expect(worker.got.map(({ cmdId }) => cmdId)).toEqual(["c1"]);
    expect(asked).toEqual(["c1 w0"]);
    second.observe(news({ kind: "ack", worker: "w0", cmdId: "c1", isOk: true, error: "" }));
    await settle();
    share();
    expect([stateOf(first), stateOf(second)]).toEqual(["confirmed", "confirmed"]);
    expect(first.accepting(workspace, runId)).toEqual(["w0"]);
  });

  it("are not handed over twice when the worker changes collectors before the first is heard of", async () => {
    const { first, second, share } = createPair();
    const there = createWorker(second, "w0");
    await first.post(order());
    share();
    await settle();
    there.detach();
    const here = createWorker(first, "w0");
    await settle();
    expect([there.got.length, here.got.length]).toEqual([1, 0]);
  });

  it("go back to the owner when the bytes could not leave", async () => {
    const { first, second, share } = createPair();
    const deaf = createWorker(second, "w0", false);
    await first.post(order());
    share();
    await settle();
    deaf.detach();
    const here = createWorker(first, "w0");
    await settle();
    expect(here.got.length).toBe(1);
  });

  it("wait while the owner cannot be asked, and are taken over when it is gone", async () => {
    const { first, second, state, share } = createPair();
    await first.post(order({ worker: "w0" }));
    share();
    expect(first.grant("c1", "w0")).toBe(true);
    const worker = createWorker(second, "w0");
    await settle();
    expect(worker.got).toEqual([]);
    state.isFirstUp = false;
    second.retry();
    await settle();
    expect(worker.got.length).toBe(1);
  });

  it("expire at their owner alone", async () => {
    const { first, second, share } = createPair();
    await first.post(order({ worker: "nobody", expiresMs: 50 }));
    share();
    await vi.advanceTimersByTimeAsync(200);
    expect([stateOf(first), stateOf(second)]).toEqual(["expired", "queued"]);
    share();
    expect(stateOf(second)).toBe("expired");
  });
});
