import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Receipt, Submitted } from "#intake/sequencer.ts";
import type { XtrackFramesInput } from "#intake/xtrack/frames-input.ts";
import { UnfinishedBytes } from "#server/unfinished-bytes.ts";
import { encodeFrame } from "#wire/xtrack/frames.testing.ts";
import { decodeXtrack } from "#wire/xtrack/stream.ts";
import type { FrameStream } from "./frame-stream.ts";
import { IntakeSink } from "./intake-sink.ts";
import type { StreamOrigin } from "./ports.ts";

const origin: StreamOrigin = { transport: "tcp", peer: "here", workspace: "lab", source: "s", runOverride: null };

let inputs: XtrackFramesInput[];
let flying: { resolve: () => void; reject: () => void }[];
let isFull: boolean;
let followed: string;
let sink: IntakeSink;

function submit(input: XtrackFramesInput): Submitted {
  if (isFull) return "disk_full";
  inputs.push(input);
  const durable = Promise.withResolvers<number>();
  flying.push({ resolve: () => durable.resolve(inputs.length), reject: () => durable.reject(new Error("disk")) });
  return { durable: durable.promise, applied: new Promise<Receipt>(() => {}) };
}

beforeEach(() => {
  vi.useFakeTimers();
  inputs = [];
  flying = [];
  isFull = false;
  followed = "";
  sink = new IntakeSink({
    submit,
    hasRoom: () => true,
    nowNs: () => BigInt(Date.now()) * 1_000_000n,
    runOf: (_, runId) => runId,
    isFollowed: (_, runId) => runId === followed,
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

const turns = () => vi.advanceTimersByTimeAsync(1);
/** Until small pieces that came just after others have had their turn. */
const round = () => vi.advanceTimersByTimeAsync(30);
const metric = (run: string, seq: number, key = "loss") =>
  encodeFrame("metric", { seq, ts: seq, wid: "w" }, { run_id: run, key, value: 1 });

function open(more: Partial<StreamOrigin> = {}): FrameStream {
  const ignore = () => undefined;
  const events = {
    onAsk: ignore,
    onWorker: ignore,
    onOutcomes: ignore,
    onRoom: ignore,
    onNoRoom: ignore,
    onRest: () => false,
    onWake: () => undefined,
    onCollect: () => undefined,
    onRise: () => undefined,
    onAck: ignore,
  };
  return sink.openStream({ ...origin, ...more }, events);
}

/** Streams that have spoken once, each of a run of its own. */
async function openSome(count: number, more: Partial<StreamOrigin> = {}): Promise<FrameStream[]> {
  const streams = Array.from({ length: count }, () => open(more));
  for (const [at, stream] of streams.entries()) stream.push(metric(`run-${at}`, 1));
  await turns();
  await land();
  inputs.length = 0;
  return streams;
}

async function land(): Promise<void> {
  for (const { resolve } of flying.splice(0)) resolve();
  await turns();
}

const eventsOf = (input: XtrackFramesInput | undefined) => {
  const { columns } = decodeXtrack(input as XtrackFramesInput);
  return Array.from({ length: columns.length }, (_, at) => `${columns.run.at(at)}#${columns.seq.at(at)}`);
};

describe("small pieces of many streams", () => {
  it("become one record, and what comes while it is on its way becomes the next", async () => {
    const streams = await openSome(20);
    for (const [at, stream] of streams.entries()) stream.push(metric(`run-${at}`, 2));
    await turns();
    expect(inputs.map(eventsOf)).toEqual([streams.map((_, at) => `run-${at}#2`)]);
    expect(streams.every((stream) => stream.pendingBytes > 0)).toBe(true);
    for (const seq of [3, 4]) for (const [at, stream] of streams.entries()) stream.push(metric(`run-${at}`, seq));
    await turns();
    expect(inputs.length).toBe(1);
    await land();
    await round();
    expect(inputs.slice(1).map(eventsOf)).toEqual([streams.flatMap((_, at) => [`run-${at}#3`, `run-${at}#4`])]);
    await land();
    expect(streams.every((stream) => stream.pendingBytes === 0)).toBe(true);
  });

  it("wait for each other while they keep coming, though the disk is quick", async () => {
    const streams = await openSome(8);
    for (const [at, stream] of streams.entries()) {
      stream.push(metric(`run-${at}`, 2));
      await turns();
      await land();
    }
    // The first went alone at once: nobody was there to wait for.
    expect(inputs.map(eventsOf)).toEqual([["run-0#2"]]);
    await round();
    expect(inputs.slice(1).map(eventsOf)).toEqual([streams.slice(1).map((_, at) => `run-${at + 1}#2`)]);
    await land();
    await vi.advanceTimersByTimeAsync(1000);
    streams[7]?.push(metric("run-7", 3));
    await turns();
    expect(inputs.slice(2).map(eventsOf)).toEqual([["run-7#3"]]);
  });

  it("wait longer the more streams bring some, so that each brings several events at once", async () => {
    const streams = await openSome(300);
    const push = (seq: number) => {
      for (const [at, stream] of streams.entries()) stream.push(metric(`run-${at}`, seq));
    };
    push(2);
    await turns();
    await land();
    push(3);
    await vi.advanceTimersByTimeAsync(100);
    push(4);
    expect(inputs.length).toBe(1);
    await vi.advanceTimersByTimeAsync(60);
    expect(inputs.slice(1).flatMap(eventsOf)).toEqual(streams.flatMap((_, at) => [`run-${at}#3`, `run-${at}#4`]));
    await land();
    // The last of them to stay is not kept waiting by those who left.
    streams[0]?.push(metric("run-0", 5));
    await vi.advanceTimersByTimeAsync(160);
    await land();
    streams[0]?.push(metric("run-0", 6));
    await round();
    expect(inputs.slice(-2).map(eventsOf)).toEqual([["run-0#5"], ["run-0#6"]]);
  });

  it("do not wait for others while somebody looks at their run", async () => {
    const [one, other] = await openSome(2);
    followed = "run-1";
    one?.push(metric("run-0", 2));
    await turns();
    await land();
    one?.push(metric("run-0", 3));
    other?.push(metric("run-1", 2));
    await turns();
    expect(inputs.map(eventsOf)).toEqual([["run-0#2"], ["run-1#2"]]);
  });

  it("do not wait for others when their stream ends", async () => {
    const [one, other] = await openSome(2);
    one?.push(metric("run-0", 2));
    await turns();
    await land();
    other?.push(metric("run-1", 2));
    void other?.end("eof");
    await turns();
    expect(inputs.map(eventsOf)).toEqual([["run-0#2"], ["run-1#2"]]);
  });

  it("stay apart where they came from different places", async () => {
    const [one] = await openSome(1);
    const [other] = await openSome(1, { workspace: "other" });
    one?.push(metric("run-0", 2));
    other?.push(metric("run-0", 2));
    await turns();
    expect(inputs.map(({ workspace }) => workspace)).toEqual(["lab", "other"]);
  });

  it("stand before a large piece of the same stream", async () => {
    const [stream, other] = await openSome(2);
    other?.push(metric("run-1", 2));
    await turns();
    stream?.push(metric("run-0", 2));
    await round();
    expect(inputs.map(eventsOf)).toEqual([["run-1#2"]]);
    stream?.push(metric("run-0", 3, "k".repeat(300_000)));
    await turns();
    expect(inputs.map(eventsOf)).toEqual([["run-1#2"], ["run-0#2"], ["run-0#3"]]);
  });

  it("are offered again when the disk failed or was full, and a stream that ends waits for them", async () => {
    const [stream] = await openSome(1);
    stream?.push(metric("run-0", 2));
    await turns();
    isFull = true;
    for (const { reject } of flying.splice(0)) reject();
    await turns();
    let isEnded = false;
    void stream?.end("eof").then(() => {
      isEnded = true;
    });
    await vi.advanceTimersByTimeAsync(100);
    expect([isEnded, sink.isCrowded()]).toEqual([false, true]);
    isFull = false;
    await vi.advanceTimersByTimeAsync(100);
    expect(inputs.map(eventsOf)).toEqual([["run-0#2"], ["run-0#2"]]);
    await land();
    expect([isEnded, sink.isCrowded()]).toEqual([true, false]);
  });

  it("are lost and counted beyond the limit, and their streams go on", async () => {
    const streams = await openSome(80);
    isFull = true;
    for (const [at, stream] of streams.entries()) stream.push(metric(`run-${at}`, 2));
    await turns();
    expect(sink.counters.lost).toBe(80);
    expect(streams.every((stream) => stream.pendingBytes === 0)).toBe(true);
  });
});
