import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { atOnce } from "#base/turns.ts";
import { rebuildAll } from "./decode-cases.testing.ts";
import { EventColumns } from "./event-columns.ts";
import { encodeFrame } from "./frames.testing.ts";
import { encodeSwitch, frameAt } from "./segments.ts";
import { decodeXtrack, type StreamChunk, type StreamOptions, XtrackStream } from "./stream.ts";
import { frameOf, join } from "./stream-cases.testing.ts";

const events = new Uint8Array(
  readFileSync(new URL("../../../tests/fixtures/xtrack/file_full/events.bin", import.meta.url)),
);
const metric = (seq: number) => encodeFrame("metric", { seq, ts: seq }, { run_id: "r", key: "k", value: seq });

function run(stream: Uint8Array, cuts: readonly number[], options: StreamOptions = {}): StreamChunk[] {
  const decoder = new XtrackStream(options);
  const edges = [0, ...[...cuts].sort((a, b) => a - b), stream.length];
  const chunks = edges.slice(1).map((edge, i) => decoder.push(stream.slice(edges[i], edge)));
  return [...chunks, decoder.finish()].filter((chunk) => chunk !== null);
}

/** The same in memory that is used again for the next piece: its chunks are told of after that. */
function runLent(stream: Uint8Array, cuts: readonly number[]): { chunks: StreamChunk[]; bodies: Uint8Array[] } {
  const decoder = new XtrackStream();
  const edges = [...new Set([0, ...cuts, stream.length])].sort((a, b) => a - b);
  const memory = new Uint8Array(new SharedArrayBuffer(stream.length * 2));
  const chunks: StreamChunk[] = [];
  const bodies: Uint8Array[] = [];
  const take = (chunk: StreamChunk | null) => {
    if (chunk === null) return;
    chunks.push(chunk);
    bodies.push(Uint8Array.from(chunk.body));
  };
  for (let i = 0; i + 1 < edges.length; i += 2) {
    const end = edges[Math.min(i + 2, edges.length - 1)] as number;
    const piece = stream.subarray(edges[i], end);
    memory.set(piece, stream.length);
    take(atOnce(decoder.pushLent(memory, stream.length, stream.length + piece.length)));
    memory.fill(0x31);
  }
  take(decoder.finish());
  return { chunks, bodies };
}

/** What was decoded, in a form that can be compared. */
const told = (decoded: StreamChunk["decoded"]) => ({
  events: rebuildAll(decoded.columns),
  offsets: Array.from({ length: decoded.columns.length }, (_, i) => decoded.columns.offset.at(i)),
  runs: Array.from({ length: decoded.columns.length }, (_, i) => decoded.columns.run.at(i)),
  faults: decoded.faults.map(({ fault, ...rest }) => ({
    ...rest,
    ...fault,
    raw: Buffer.from(fault.raw).toString("latin1"),
  })),
});
const all = (chunks: readonly StreamChunk[]) => {
  const parts = chunks.map((chunk) => told(chunk.decoded));
  return {
    events: parts.flatMap((part) => part.events),
    offsets: parts.flatMap((part) => part.offsets),
    runs: parts.flatMap((part) => part.runs),
    faults: parts.flatMap((part) => part.faults),
  };
};

describe("a record of several streams", () => {
  const start = (run: string) => encodeFrame("run_start", { seq: 1, ts: 1 }, { run_id: run });
  const nameless = (seq: number, key: string) => encodeFrame("metric", { seq, ts: seq }, { key, value: seq } as never);

  /** Pushes pieces of streams in turn onto shared columns, and makes the record of them. */
  function share(pieces: readonly (readonly [stream: number, bytes: Uint8Array])[], runs: readonly string[]) {
    const streams = runs.map((run) => new XtrackStream({ currentRun: run }));
    const shared = { columns: new EventColumns(), faults: [] };
    const parts: Uint8Array[] = [];
    for (const [stream, bytes] of pieces) {
      const chunk = (streams[stream] as XtrackStream).pushShared(bytes, shared);
      if (chunk !== null) parts.push(encodeSwitch(chunk), chunk.body);
    }
    return { shared, record: { body: join(...parts), offset: 0, currentRun: null, file: "" } };
  }

  it("decodes to what the streams gave, each with its own run and offsets", () => {
    const refused = frameOf('{"v":1,"t":"metric","m":{"seq":9,"ts":1},"p":{}}');
    const { shared, record } = share(
      [
        [0, nameless(1, "a")],
        [1, nameless(1, "b")],
        [0, join(start("c"), nameless(2, "a"))],
        [1, join(refused, nameless(2, "b"))],
        [0, nameless(3, "a")],
      ],
      ["first", "second"],
    );
    const again = decodeXtrack(record);
    expect(told(again)).toEqual(told(shared));
    expect(told(again).runs).toEqual(["first", "second", "c", "c", "second", "c"]);
    expect(told(again).faults.map(({ code, run }) => [code, run])).toEqual([["xtrack_missing_field", "second"]]);
    expect(again.switches?.map(({ event }) => event)).toEqual([0, 1, 2, 4, 5]);
    // Two events at the same offset of their streams.
    const frames = again.switches?.slice(0, 2).map(({ at, offset }) => frameAt(record.body.subarray(at), offset, 0));
    expect(frames).toEqual([nameless(1, "a"), nameless(1, "b")]);
  });

  it("keeps a frame that is not whole out of the record until its stream has the rest", () => {
    const whole = nameless(1, "a");
    const { record } = share(
      [
        [0, whole.slice(0, 20)],
        [1, nameless(1, "b")],
        [0, whole.slice(20)],
      ],
      ["first", "second"],
    );
    expect(told(decodeXtrack(record)).runs).toEqual(["second", "first"]);
  });
});

describe("XtrackStream", () => {
  it("decodes the same from each journal record alone as from the stream, at any cuts", () => {
    const noisy = join(
      events.subarray(0, 60_000),
      frameOf('{"v":1,"t":"metric","m":{"seq":9,"ts":1},"p":{"run_id":"r"}}'),
      new TextEncoder().encode("print"),
      events.subarray(60_100),
      metric(1).slice(0, 30),
    );
    const whole = all(run(noisy, []));
    expect(whole.faults.map((fault) => fault.code)).toEqual([
      "xtrack_bytes_skipped",
      "xtrack_missing_field",
      "xtrack_bytes_skipped",
      "xtrack_frame_torn",
    ]);
    fc.assert(
      fc.property(fc.array(fc.nat(noisy.length), { maxLength: 30 }), (cuts) => {
        const chunks = run(noisy, cuts);
        expect(all(chunks)).toEqual(whole);
        for (const chunk of chunks) expect(told(decodeXtrack(chunk))).toEqual(told(chunk.decoded));
      }),
      { numRuns: 25 },
    );
  });

  it("keeps nothing of memory that was lent, at any cuts", () => {
    const metrics = Object.fromEntries(Array.from({ length: 8000 }, (_, at) => [`layer${at}`, at / 7]));
    const large = encodeFrame("metric_batch", { seq: 7, ts: 7 }, { run_id: "r", step: 1, metrics });
    const odd = frameOf('{"v":1,"t":"odd","m":{"seq":9,"ts":1.5},"p":{"run_id":"ü","deep":{"a":[1,"b"]}},"more":0.1}');
    const refused = frameOf('{"v":1,"t":"metric","m":{"seq":9,"ts":1},"p":{"run_id":"r"}}');
    const noisy = join(events.subarray(0, 30_000), odd, refused, large, new TextEncoder().encode("print"), metric(1));
    const whole = all(run(noisy, []));
    expect(whole.faults.length).toBeGreaterThan(1);
    fc.assert(
      fc.property(fc.array(fc.nat(noisy.length), { maxLength: 12 }), (cuts) => {
        const { chunks, bodies } = runLent(noisy, cuts);
        expect(all(chunks)).toEqual(whole);
        for (const [at, body] of bodies.entries())
          expect(told(decodeXtrack({ ...(chunks[at] as StreamChunk), body })).events).toEqual(
            told((chunks[at] as StreamChunk).decoded).events,
          );
      }),
      { numRuns: 25 },
    );
  });

  it("journals whole frames as they came and keeps the rest for the next record", () => {
    const stream = new XtrackStream();
    const bytes = join(metric(1), metric(2), metric(3));
    const half = metric(1).length * 2 + 9;
    const first = stream.push(bytes.slice(0, half));
    expect(first?.body).toEqual(join(metric(1), metric(2)));
    expect(stream.push(bytes.slice(half, half + 3))).toBeNull();
    expect(stream.pendingBytes).toBe(12);
    const rest = stream.push(bytes.slice(half + 3));
    expect(rest).toMatchObject({ body: metric(3), offset: metric(1).length * 2 });
  });

  it("carries the run of the last run_start into the next record", () => {
    const start = frameOf('{"v":1,"t":"run_start","m":{"seq":1,"ts":1},"p":{"run_id":""}}');
    const later = frameOf('{"v":1,"t":"metric","m":{"seq":2,"ts":2},"p":{"run_id":"","key":"k","value":1}}');
    const [first, second] = run(join(start, later), [start.length]);
    expect(first?.currentRun).toBeNull();
    expect(second?.currentRun).toMatch(/^x-[0-9a-f]{16}$/);
    expect(second && told(decodeXtrack(second)).runs).toEqual([second?.currentRun]);
  });

  it("names seq, run and worker of a refused event, so that it can be answered", () => {
    const bad = frameOf('{"v":1,"t":"metric","m":{"seq":9,"ts":1,"wid":"w"},"p":{"run_id":"r","value":1}}');
    const [chunk] = run(join(metric(1), bad, metric(2)), []);
    expect(chunk?.decoded.columns.length).toBe(2);
    expect(chunk?.decoded.faults).toMatchObject([
      {
        run: "r",
        worker: "w",
        seq: 9,
        fault: { code: "xtrack_missing_field", place: { offset: metric(1).length, pointer: "/p/key" } },
      },
    ]);
  });
});

describe("keys", () => {
  const auth = frameOf('{"v":1,"t":"auth","m":{"seq":0,"ts":0},"p":{"key":"s3cret"}}');

  it("takes a key from an auth frame and writes it into no record", () => {
    const [chunk] = run(join(auth, metric(1)), []);
    expect(chunk).toMatchObject({ keys: ["s3cret"], offset: 0 });
    expect(Buffer.from(chunk?.body ?? []).includes("s3cret")).toBe(false);
    expect(chunk && told(decodeXtrack(chunk)).offsets).toEqual([auth.length]);
    const odd = frameOf('{"v":1,"t":"auth","m":{},"p":{"key":["s3cret"]}}');
    const [refused] = run(odd, []);
    expect(refused?.decoded.faults).toMatchObject([
      { fault: { code: "xtrack_invalid_field", raw: new Uint8Array(0) } },
    ]);
    expect(Buffer.from(refused?.body ?? []).includes("s3cret")).toBe(false);
  });

  it("takes a key from a first line of text, at any cuts", () => {
    const stream = join(new TextEncoder().encode("s3cret\r\n"), metric(1));
    for (const cuts of [[], [1], [7], [8], [9], Array.from({ length: stream.length - 1 }, (_, i) => i + 1)]) {
      const chunks = run(stream, cuts, { greeting: true });
      expect(chunks.flatMap((chunk) => chunk.keys)).toEqual(["s3cret"]);
      expect(all(chunks)).toMatchObject({ offsets: [8], faults: [] });
      for (const chunk of chunks) expect(told(decodeXtrack(chunk))).toEqual(told(chunk.decoded));
    }
  });

  it("takes no frame and no long text for a key", () => {
    expect(all(run(metric(1), [3], { greeting: true })).offsets).toEqual([0]);
    const long = join(new Uint8Array(300).fill(0x61), metric(1));
    expect(all(run(long, [], { greeting: true }))).toMatchObject({
      offsets: [300],
      faults: [{ code: "xtrack_bytes_skipped" }],
    });
    const torn = join(new TextEncoder().encode('"p":{}}'), metric(1));
    expect(run(torn, [], { greeting: true })[0]?.keys).toEqual([]);
    expect(all(run(new TextEncoder().encode("abc"), [], { greeting: true })).faults).toHaveLength(1);
  });
});

it("returns text between frames with its place, and does not journal it", () => {
  const stream = join(new TextEncoder().encode("hello\n"), metric(1), new TextEncoder().encode("bye\n"));
  const chunks = run(stream, [6], { text: true });
  expect(chunks.map((chunk) => chunk.isEmpty)).toEqual([true, false]);
  const pieces = chunks.flatMap((chunk) =>
    chunk.text.map(({ bytes, offset }) => [Buffer.from(bytes).toString(), offset]),
  );
  expect(pieces).toEqual([
    ["hello\n", 0],
    ["bye\n", 6 + metric(1).length],
  ]);
  expect(chunks.map((chunk) => Buffer.from(chunk.body).includes("bye"))).toEqual([false, false]);
});
