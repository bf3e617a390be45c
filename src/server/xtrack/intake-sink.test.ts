import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { giveBackMemory } from "#base/give-back.ts";
import type { Receipt, Submitted } from "#intake/sequencer.ts";
import type { XtrackFramesInput } from "#intake/xtrack/frames-input.ts";
import { UnfinishedBytes } from "#server/unfinished-bytes.ts";
import { encodeFrame } from "#wire/xtrack/frames.testing.ts";
import { decodeXtrack } from "#wire/xtrack/stream.ts";
import { IntakeSink } from "./intake-sink.ts";
import type { EventOutcome, StreamOrigin } from "./ports.ts";

const origin: StreamOrigin = { transport: "tcp", peer: "here", workspace: "lab", source: "s", runOverride: null };

/** A journal that syncs, fails or is full when the test says so. */
function createLog() {
  const inputs: XtrackFramesInput[] = [];
  const flying: { resolve: () => void; reject: () => void }[] = [];
  const log = {
    inputs,
    flying,
    isFull: false,
    /** Records that are taken before it is full again. */
    roomFor: Number.POSITIVE_INFINITY,
    submit(input: XtrackFramesInput): Submitted {
      if (log.isFull || log.roomFor-- <= 0) return "disk_full";
      inputs.push(input);
      const durable = Promise.withResolvers<number>();
      const applied = Promise.withResolvers<Receipt>();
      durable.promise.catch(applied.reject);
      applied.promise.catch(() => undefined);
      flying.push({ resolve: () => durable.resolve(inputs.length), reject: () => durable.reject(new Error("disk")) });
      return { durable: durable.promise, applied: applied.promise };
    },
    async sync(): Promise<void> {
      await vi.advanceTimersByTimeAsync(1);
      while (flying.length > 0) {
        flying.shift()?.resolve();
        await vi.advanceTimersByTimeAsync(1);
      }
    },
  };
  return log;
}

let log: ReturnType<typeof createLog>;
let sink: IntakeSink;
let outcomes: EventOutcome[];
let asked: string[];
let rooms: number;

beforeEach(() => {
  vi.useFakeTimers();
  log = createLog();
  outcomes = [];
  asked = [];
  rooms = 0;
  sink = new IntakeSink({
    submit: (input) => log.submit(input),
    hasRoom: () => true,
    nowNs: () => BigInt(Date.now()) * 1_000_000n,
    runOf: (_, runId) => `kept-${runId}`,
    isFollowed: () => false,
    unfinished: new UnfinishedBytes(256 * 1024 * 1024),
    frameBytesMax: 1024 * 1024,
    gatheredBytesMax: 2_000_000,
    heldBytesMax: 4000,
  });
});
afterEach(() => {
  sink.close();
  vi.useRealTimers();
});

function open(more: Partial<StreamOrigin> = {}): ReturnType<IntakeSink["openStream"]> {
  const stream = sink.openStream(
    { ...origin, ...more },
    {
      onAsk(what) {
        asked.push(what);
        if (what === "ack") {
          stream.reports = true;
          stream.isPatient = true;
        }
      },
      onWorker: (runId, wid) => asked.push(`${runId}/${wid}`),
      onOutcomes: (list) => outcomes.push(...list),
      onRoom: () => rooms++,
      onNoRoom: () => undefined,
      onRest: () => false,
      onWake: () => undefined,
      onCollect: () => undefined,
      onRise: () => undefined,
      onAck: () => undefined,
    },
  );
  return stream;
}

/** Lets every stream have its turns. */
const turns = () => vi.advanceTimersByTimeAsync(1);

const metric = (seq: number, text = "x") =>
  encodeFrame("metric", { seq, ts: seq, wid: "w" }, { run_id: "r", key: text, value: 1 });
const runStart = (accepts?: ("ack" | "command")[]) =>
  encodeFrame("run_start", { seq: 1, ts: 1, wid: "w" }, { run_id: "r", ...(accepts && { accepts }) });
const seqsIn = (input: XtrackFramesInput | undefined) => {
  const { columns } = decodeXtrack(input as XtrackFramesInput);
  return Array.from({ length: columns.length }, (_, at) => Number(columns.seq.at(at)));
};

describe("a stream", () => {
  it("sends its first bytes at once and gathers the next while they are on their way", async () => {
    const stream = open();
    stream.push(metric(1));
    await turns();
    for (let seq = 2; seq <= 50; seq++) stream.push(metric(seq));
    expect(log.inputs.length).toBe(1);
    expect(stream.pendingBytes).toBeGreaterThan(49 * 80);
    await log.sync();
    expect(log.inputs.map(seqsIn)).toEqual([[1], Array.from({ length: 49 }, (_, at) => at + 2)]);
    expect(stream.pendingBytes).toBe(0);
    expect(rooms).toBe(2);
  });

  it("does not wait for the disk once much has gathered", async () => {
    const stream = open();
    stream.push(metric(1));
    await turns();
    for (let seq = 2; seq <= 50; seq++) stream.push(metric(seq, "k".repeat(20_000)));
    await turns();
    expect(log.inputs.length).toBe(3);
  });

  it("lets others have their turns while it decodes a large frame, and keeps its own order", async () => {
    const metrics = Object.fromEntries(Array.from({ length: 40_000 }, (_, at) => [`m${at}`, at]));
    const [large, small] = [open(), open({ source: "other" })];
    large.push(encodeFrame("metric_batch", { seq: 1, ts: 1, wid: "w" }, { run_id: "r", metrics }));
    large.push(metric(2));
    small.push(metric(7));
    await turns();
    await log.sync();
    expect(log.inputs.map(seqsIn)).toEqual([[7], [1], [2]]);
    const ended = Promise.all([large.end("eof"), small.end("eof")]);
    await turns();
    await ended;
    expect(large.pendingBytes).toBe(0);
  });

  it("ends only when a large frame that came is decoded and durable", async () => {
    const metrics = Object.fromEntries(Array.from({ length: 40_000 }, (_, at) => [`m${at}`, at]));
    const stream = open();
    stream.push(encodeFrame("metric_batch", { seq: 1, ts: 1, wid: "w" }, { run_id: "r", metrics }));
    const ended = stream.end("eof");
    await log.sync();
    await ended;
    expect(log.inputs.map(seqsIn)).toEqual([[1]]);
  });

  it("keeps nothing of a record that is durable, however long it takes to be applied", async () => {
    const taken: WeakRef<XtrackFramesInput>[] = [];
    const unapplied: Submitted[] = [];
    log.submit = (input) => {
      taken.push(new WeakRef(input));
      unapplied.push({ durable: Promise.resolve(1), applied: new Promise<Receipt>(() => undefined) });
      return unapplied.at(-1) as Submitted;
    };
    const stream = open();
    for (let seq = 1; seq <= 3; seq++) {
      stream.push(metric(seq, "k".repeat(20_000)));
      await turns();
    }
    expect([taken.length, stream.pendingBytes]).toEqual([3, 0]);
    giveBackMemory();
    expect(taken.filter((ref) => ref.deref() !== undefined)).toEqual([]);
    expect(unapplied).toHaveLength(3);
  });

  it("holds none of the bytes that a connection sent which is silent now", async () => {
    const stream = open();
    const sent: WeakRef<Uint8Array>[] = [];
    const send = (bytes: Uint8Array) => {
      sent.push(new WeakRef(bytes));
      stream.push(bytes);
    };
    for (const [seq, key] of ["a", "b".repeat(20_000), "c"].entries()) {
      send(metric(seq + 1, key));
      await vi.advanceTimersByTimeAsync(30);
      await log.sync();
    }
    expect(log.inputs.flatMap(seqsIn)).toEqual([1, 2, 3]);
    giveBackMemory();
    expect(sent.filter((ref) => ref.deref() !== undefined)).toEqual([]);
    expect(stream.pendingBytes).toBe(0);
  });

  it("decodes at once when more waits than may", () => {
    const stream = open();
    for (let seq = 1; seq <= 30; seq++) stream.push(metric(seq, "k".repeat(100_000)));
    expect(log.inputs.flatMap(seqsIn).length).toBeGreaterThan(10);
    expect(sink.counters.gatheredBytes).toBeLessThanOrEqual(2_000_000);
  });

  it("tells who speaks, under the name the run is kept by, and what they ask for", async () => {
    const stream = open();
    stream.push(runStart(["command"]));
    await turns();
    expect(asked).toEqual(["command", "kept-r/w"]);
    await log.sync();
    stream.push(metric(2));
    await turns();
    expect(asked.length).toBe(2);
    expect(sink.presence.workersOf("lab", "kept-r")).toEqual(["w"]);
    await log.sync();
    await stream.end("eof");
    expect(sink.presence.workersOf("lab", "kept-r")).toEqual([]);
    open({ runOverride: "named" }).push(metric(3));
    await turns();
    expect(asked.at(-1)).toBe("named/w");
  });

  it("keeps the names of a thousand workers, whatever else is made up, and all their events", async () => {
    const stream = open();
    for (let at = 0; at < 3000; at++)
      stream.push(encodeFrame("metric", { seq: 1, ts: 1, wid: `w${at}` }, { run_id: "r", key: "k", value: 1 }));
    await log.sync();
    expect(sink.presence.count()).toBe(1000);
    expect(sink.counters.events).toBe(3000);
  });

  it("reports events only when asked, from the asking event on, and only once they are durable", async () => {
    const stream = open();
    const ack = encodeFrame("ack", { seq: 2, ts: 2, wid: "w" }, { seq: 0, status: "ok" });
    stream.push(Buffer.concat([metric(1), ack, metric(3)]));
    await turns();
    stream.push(metric(4));
    expect(outcomes).toEqual([]);
    await log.sync();
    expect(outcomes.map(({ seq, runId, wid, error }) => [seq, runId, wid, error])).toEqual([
      [3, "r", "w", null],
      [4, "r", "w", null],
    ]);
  });

  it("ends when everything is durable, the torn tail as a fault", async () => {
    const stream = open();
    stream.push(Buffer.concat([metric(1), metric(2).subarray(0, 30)]));
    let isEnded = false;
    const ended = stream.end("reset").then(() => {
      isEnded = true;
    });
    await vi.advanceTimersByTimeAsync(100);
    expect(isEnded).toBe(false);
    await log.sync();
    await ended;
    expect(decodeXtrack(log.inputs.at(-1) as XtrackFramesInput).faults[0]?.fault.code).toBe("xtrack_frame_torn");
  });
});

describe("without room", () => {
  it("holds what came and offers it again in order", async () => {
    const stream = open();
    log.isFull = true;
    for (let seq = 1; seq <= 5; seq++) {
      stream.push(metric(seq));
      await turns();
    }
    expect(sink.isCrowded()).toBe(true);
    await vi.advanceTimersByTimeAsync(100);
    expect(log.inputs).toEqual([]);
    log.isFull = false;
    await vi.advanceTimersByTimeAsync(30);
    await log.sync();
    expect(log.inputs.flatMap(seqsIn)).toEqual([1, 2, 3, 4, 5]);
    expect([sink.isCrowded(), sink.counters.heldBytes, sink.counters.lost]).toEqual([false, 0, 0]);
  });

  it("offers again what the disk failed to take, and acks it only then", async () => {
    const stream = open();
    stream.push(runStart(["ack"]));
    await turns();
    log.flying.shift()?.reject();
    await vi.advanceTimersByTimeAsync(1);
    expect(outcomes).toEqual([]);
    await vi.advanceTimersByTimeAsync(30);
    await log.sync();
    expect(log.inputs.length).toBe(2);
    expect(outcomes.map(({ seq }) => seq)).toEqual([1]);
  });

  it("loses what a peer that cannot wait sends beyond the limit, and says so on its run", async () => {
    const stream = open();
    log.isFull = true;
    for (let seq = 1; seq <= 200; seq++) {
      stream.push(metric(seq));
      await turns();
    }
    const held = 200 - sink.counters.lost;
    expect(sink.counters.lost).toBeGreaterThan(100);
    expect(sink.counters.heldBytes).toBeLessThanOrEqual(4000);
    log.isFull = false;
    await vi.advanceTimersByTimeAsync(100);
    await log.sync();
    expect(log.inputs.flatMap(seqsIn)).toEqual(Array.from({ length: held }, (_, at) => at + 1));
    const { fault, run } = decodeXtrack(log.inputs.at(-1) as XtrackFramesInput).faults[0] as never as {
      fault: { code: string; detail: string };
      run: string;
    };
    expect([fault.code, run]).toEqual(["xtrack_events_lost", "r"]);
    expect(fault.detail).toBe(
      `${200 - held} of events ${held + 1} to 200 of worker w came while there was no room and were not kept`,
    );
    expect(log.inputs.at(-1)).toMatchObject({ workspace: "lab", currentRun: "r", transport: "tcp" });
  });

  it("never loses what a peer that waits has sent", async () => {
    const stream = open();
    stream.push(runStart(["ack"]));
    await log.sync();
    log.isFull = true;
    for (let seq = 2; seq <= 200; seq++) {
      stream.push(metric(seq));
      await turns();
    }
    expect(sink.counters.lost).toBe(0);
    log.isFull = false;
    await vi.advanceTimersByTimeAsync(100);
    await log.sync();
    expect(outcomes.map(({ seq }) => seq)).toEqual(Array.from({ length: 200 }, (_, at) => at + 1));
  });

  it("gives those who send little their turn beside those who send much", async () => {
    const [loud, quiet] = [open(), open()];
    for (const stream of [loud, quiet]) stream.push(runStart(["ack"]));
    await log.sync();
    log.isFull = true;
    for (let seq = 2; seq <= 40; seq++) {
      loud.push(metric(seq, "loud"));
      await turns();
    }
    quiet.push(metric(2, "quiet"));
    await turns();
    const before = log.inputs.length;
    log.roomFor = 3;
    log.isFull = false;
    await vi.advanceTimersByTimeAsync(25);
    // What comes now gets in line too, although there is some room at this moment.
    log.roomFor = 1;
    loud.push(metric(41, "loud"));
    await turns();
    const keys = log.inputs.slice(before).map((input) => decodeXtrack(input).columns.metrics.rows.key.at(0));
    expect(keys).toEqual(["loud", "quiet", "loud"]);
  });

  it("is read again when there is room, also when nothing of its own waits", async () => {
    const [loud, quiet] = [open(), open()];
    quiet.push(runStart(["ack"]));
    await log.sync();
    log.isFull = true;
    loud.push(metric(1));
    await turns();
    rooms = 0;
    log.isFull = false;
    await vi.advanceTimersByTimeAsync(25);
    expect([rooms, sink.isCrowded()]).toEqual([1, false]);
  });

  it("keeps a loss in mind until it could be told, and adds to it", async () => {
    const stream = open();
    log.isFull = true;
    for (let seq = 1; seq <= 100; seq++) {
      stream.push(metric(seq));
      await turns();
    }
    log.isFull = false;
    await vi.advanceTimersByTimeAsync(30);
    // The record of the loss itself meets a failing disk.
    log.flying.pop()?.reject();
    await log.sync();
    await vi.advanceTimersByTimeAsync(100);
    await log.sync();
    const faults = log.inputs.flatMap((input) => decodeXtrack(input).faults.map(({ fault }) => fault.code));
    expect(faults).toEqual(["xtrack_events_lost", "xtrack_events_lost"]);
    expect(Buffer.from(log.inputs.at(-1)?.body ?? [])).toEqual(Buffer.from(log.inputs.at(-2)?.body ?? []));
  });

  it("gives up waiting for room some seconds into a shutdown", async () => {
    const stream = open();
    log.isFull = true;
    stream.push(metric(1));
    let isEnded = false;
    const ended = Promise.resolve(stream.end("shutdown")).then(() => {
      isEnded = true;
    });
    await vi.advanceTimersByTimeAsync(1000);
    expect(isEnded).toBe(false);
    await vi.advanceTimersByTimeAsync(1500);
    await ended;
  });
});
