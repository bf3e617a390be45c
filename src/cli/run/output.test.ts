import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encodeFrame } from "#wire/xtrack/frames.testing.ts";
import { LineCollector, OutputSplitter } from "./output.ts";
import { parseGpus, parseStat } from "./sampler.ts";

const frame = Buffer.from(encodeFrame("metric", { seq: 2, ts: 5 }, { run_id: "r", key: "loss", value: 1 } as never));
const sentinel = '{"__cirron_event__": "trace_batch", "payload": {"batch_id": "b"}}';

/** Pushes the bytes in chunks of the given sizes, over and over. */
function split(bytes: Uint8Array, sizes: readonly number[]) {
  const seen = { text: "", frames: 0, batches: [] as string[], damaged: [] as string[] };
  const splitter = new OutputSplitter({
    onFrame: (one) => {
      expect(Buffer.from(one).equals(frame)).toBe(true);
      seen.frames++;
    },
    onDamaged: (bytes) => seen.damaged.push(Buffer.from(bytes).toString("latin1")),
    onSentinel: (one) => {
      if (one.kind === "trace_batch") seen.batches.push(Buffer.from(one.batch).toString());
    },
    onText: (text) => {
      seen.text += Buffer.from(text).toString("latin1");
    },
  });
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1;
    splitter.push(bytes.slice(at, at + size));
    at += size;
  }
  splitter.finish();
  return seen;
}

describe("standard output", () => {
  const mixed = Buffer.concat([
    Buffer.from("hello\nloss 0.5 "),
    frame,
    Buffer.from(` and ${sentinel}\nmore `),
    frame,
    frame,
    Buffer.from('{"__cirron_event__": torn\nbye'),
  ]);
  const expected = {
    text: 'hello\nloss 0.5  and more {"__cirron_event__": torn\nbye',
    frames: 3,
    batches: ['{"batch_id": "b"}'],
    damaged: [],
  };

  it("is told apart into text, frames and sentinels, however it is cut", () => {
    expect(split(mixed, [mixed.length])).toEqual(expected);
    expect(split(mixed, [1])).toEqual(expected);
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }), (sizes) => {
        expect(split(mixed, sizes)).toEqual(expected);
      }),
      { numRuns: 50 },
    );
  });

  it("gives a torn frame as damaged, and every byte of it and of other bytes as text", () => {
    const torn = frame.subarray(0, 30).toString("latin1");
    const binary = `\0\0\x10\0{${"A".repeat(200_000)}\0`;
    const stream = Buffer.from(`loss ${torn}\nbye\n${binary}${torn}`, "latin1");
    for (const sizes of [[stream.length], [1000], [1, 7, 65_000]])
      expect(split(stream, sizes)).toEqual({
        text: stream.toString("latin1"),
        frames: 0,
        batches: [],
        damaged: [`${torn}\n`, torn],
      });
  });

  it("passes text on at once, also half a line", () => {
    const texts: string[] = [];
    const splitter = new OutputSplitter({
      onFrame: () => undefined,
      onDamaged: () => undefined,
      onSentinel: () => undefined,
      onText: (text) => texts.push(Buffer.from(text).toString()),
    });
    splitter.push(Buffer.from("Continue? [y/N] "));
    expect(texts.join("")).toBe("Continue? [y/N] ");
  });
});

describe("lines for the log", () => {
  it("are whole, with the offset they begin at; the last may have no end", () => {
    const lines = new LineCollector();
    lines.add(Buffer.from("one\ntw"));
    expect(lines.take(false)).toEqual({ bytes: Buffer.from("one\n"), offset: 0 });
    expect(lines.take(false)).toBeUndefined();
    lines.add(Buffer.from("o"));
    expect(lines.take(true)).toEqual({ bytes: Buffer.from("two"), offset: 4 });
    expect(lines.take(true)).toBeUndefined();
  });

  it("is cut between characters when a line has no end", () => {
    const lines = new LineCollector();
    const text = Buffer.from("ü".repeat(512 * 1024));
    const pieces: { readonly bytes: Uint8Array; readonly offset: number }[] = [];
    const take = (atEnd: boolean) => {
      const taken = lines.take(atEnd);
      if (taken !== undefined) pieces.push(taken);
    };
    lines.add(text.subarray(0, 1));
    for (let at = 0; at < 40; at++) {
      lines.add(Buffer.concat([text.subarray(1), text.subarray(0, 1)]));
      take(false);
    }
    take(true);
    expect(pieces.length).toBeGreaterThan(2);
    expect(pieces.map(({ offset }) => offset)).toEqual(
      pieces.map((_, at) => pieces.slice(0, at).reduce((sum, { bytes }) => sum + bytes.length, 0)),
    );
    for (const { bytes } of pieces.slice(0, -1))
      expect(new TextDecoder("utf-8", { fatal: true }).decode(bytes)).toMatch(/^ü+$/);
  });
});

describe("samples", () => {
  it("read a process whose name holds brackets and blanks", () => {
    const rest = "S 1 77 77 0 -1 4194304 100 0 0 0 12 3 4 1 20 0 1 0 5 1000000 256 18446744073709551615";
    expect(parseStat(`42 (odd ) name) ${rest}`)).toEqual({ groupId: 77, cpuMs: 200, memoryBytes: 256 * 4096 });
    expect(parseStat("")).toBeUndefined();
  });

  it("read what nvidia-smi says, and leave out what it does not know", () => {
    expect(parseGpus("0, 93, 1024, 250.5, 61\n1, [N/A], 0, [N/A], 40\n")).toEqual({
      "system/gpu0_percent": 93,
      "system/gpu0_memory_bytes": 1024 * 1024 * 1024,
      "system/gpu0_watts": 250.5,
      "system/gpu0_celsius": 61,
      "system/gpu1_memory_bytes": 0,
      "system/gpu1_celsius": 40,
    });
  });
});
