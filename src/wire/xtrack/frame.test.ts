import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Framer } from "./frame.ts";
import { everyByte, frameOf, gather, join } from "./stream-cases.testing.ts";

const fixture = (path: string) =>
  new Uint8Array(readFileSync(new URL(`../../../tests/fixtures/xtrack/${path}`, import.meta.url)));
const metric = (seq: number) =>
  `{"v":1,"t":"metric","m":{"seq":${seq},"ts":17},"p":{"run_id":"r","key":"k","value":0.5}}`;
const documentExample =
  '{"v":1,"t":"metric","m":{"seq":1,"ts":1703123456789000},"p":{"run_id":"abc","key":"loss","value":0.5}}';

describe("frames", () => {
  it("reads a big-endian length and that many bytes, as in the document's example, whose length is really 102 [XT-01]", () => {
    const stream = join(Uint8Array.of(0, 0, 0, 0x66), new TextEncoder().encode(documentExample));
    expect(gather(stream)).toMatchObject({ frames: [documentExample], offsets: [0], skipped: [], ending: "clean" });
  });

  it("reads concatenated frames whole, byte by byte and at random cuts alike [XT-03]", () => {
    const stream = fixture("file_full/events.bin");
    const lines = readFileSync(
      new URL("../../../tests/fixtures/xtrack/file_full/events.ndjson", import.meta.url),
      "utf8",
    );
    const whole = gather(stream);
    expect(whole.frames).toEqual(lines.trimEnd().split("\n"));
    expect(gather(stream, everyByte(stream))).toEqual(whole);
    fc.assert(
      fc.property(fc.array(fc.nat(stream.length), { maxLength: 40 }), (cuts) => {
        expect(gather(stream, cuts)).toEqual(whole);
      }),
      { numRuns: 20 },
    );
  });

  it("tells a clean end, a dropped connection and a need to wait apart [XT-04]", () => {
    const frame = frameOf(metric(1));
    const framer = new Framer();
    framer.push(frame.slice(0, 20));
    expect(framer.next()).toBe("wait");
    expect(gather(frame).ending).toBe("clean");
    expect(gather(new Uint8Array(0)).ending).toBe("clean");
    for (const cut of [1, 3, 4, 5, frame.length - 1]) {
      const torn = gather(join(frameOf(metric(1)), frame.slice(0, cut)));
      expect(torn).toMatchObject({
        frames: [metric(1)],
        ending: "torn",
        skipped: [{ code: "xtrack_frame_torn", offset: frame.length }],
      });
    }
  });

  it("understands every length up to 2^32-1 and skips a frame beyond the limit without buffering it [XT-02]", () => {
    const framer = new Framer({ frameBytesMax: 1000 });
    framer.push(Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0x7b));
    const piece = new Uint8Array(1 << 20).fill(0x20);
    for (let i = 0; i < 50; i++) {
      expect(framer.next()).toBe("wait");
      framer.push(piece);
    }
    expect(framer.next()).toBe("wait");
    expect(framer.pendingBytes).toBeLessThanOrEqual(64 * 1024);
    framer.finish();
    expect(framer.next()).toBe("skipped");
    expect(framer.skipped).toMatchObject({
      code: "xtrack_frame_too_large",
      detail: "the frame has 4294967295 bytes, the limit is 1000",
    });
  });

  it("goes on behind a frame beyond the limit [XT-02]", () => {
    const big = frameOf(`{"t":"${"x".repeat(2000)}"}`);
    const stream = join(frameOf(metric(1)), big, frameOf(metric(2)));
    const whole = gather(stream, [], { frameBytesMax: 1000 });
    expect(whole.frames).toEqual([metric(1), metric(2)]);
    expect(whole.skipped).toEqual([
      {
        code: "xtrack_frame_too_large",
        offset: 4 + metric(1).length,
        length: big.length,
        detail: "the frame has 2008 bytes, the limit is 1000",
      },
    ]);
    expect(gather(stream, everyByte(stream), { frameBytesMax: 1000 })).toEqual(whole);
  });

  it("holds no more memory than came, whatever length is claimed", () => {
    const framer = new Framer();
    framer.push(Uint8Array.of(3, 0xff, 0xff, 0xff, 0x7b, 0x22));
    expect(framer.next()).toBe("wait");
    framer.push(new Uint8Array(1000).fill(0x61));
    expect(framer.next()).toBe("wait");
    expect(framer.bytes.length).toBeLessThan(4096);
  });

  it("never writes into bytes it has delivered", () => {
    const framer = new Framer();
    const stream = join(frameOf(metric(1)), frameOf(metric(2)), frameOf(metric(3)));
    framer.push(stream.slice(0, 120));
    expect(framer.next()).toBe("frame");
    const first = framer.bytes.subarray(framer.frameStart, framer.frameEnd);
    expect(framer.next()).toBe("wait");
    framer.push(stream.slice(120, 180));
    expect(framer.next()).toBe("frame");
    const second = framer.bytes.subarray(framer.frameStart, framer.frameEnd);
    framer.next();
    framer.push(stream.slice(180));
    expect(framer.next()).toBe("frame");
    expect(new TextDecoder().decode(first)).toBe(metric(1));
    expect(new TextDecoder().decode(second)).toBe(metric(2));
  });

  it("reads frames of 100 KB and of 8 MiB", () => {
    for (const size of [100_000, 8 << 20]) {
      const payload = `{"v":1,"x":"${"y".repeat(size)}"}`;
      const cuts = Array.from({ length: 200 }, (_, i) => Math.floor((i * size) / 200));
      expect(gather(frameOf(payload), cuts).frames).toEqual([payload]);
    }
  });
});

describe("text between frames", () => {
  for (const file of ["nofd3_stdout.bin", "nofd3_unbuffered_stdout.bin"]) {
    it(`keeps what the program printed in ${file} and finds all its frames`, () => {
      const stream = fixture(`stdio/${file}`);
      const whole = gather(stream, [], { text: true });
      expect(whole.frames).toHaveLength(8);
      expect(whole.skipped).toEqual([]);
      expect(whole.text.startsWith("training starts\n")).toBe(true);
      expect(whole.text.length + whole.frames.reduce((sum, frame) => sum + frame.length + 4, 0)).toBe(stream.length);
      expect(gather(stream, everyByte(stream), { text: true })).toEqual(whole);
    });
  }

  it("reads the same frames without text mode, and then the prints are skipped ranges", () => {
    const whole = gather(fixture("stdio/user_file.txt"));
    expect(whole.frames).toHaveLength(8);
    expect(whole.raw[0]).toBe("user data line 1\n");
  });

  it("gives text on at once, without waiting for more", () => {
    const framer = new Framer({ text: true });
    framer.push(new TextEncoder().encode("ab"));
    expect(framer.next()).toBe("text");
    expect([framer.textStart, framer.textEnd]).toEqual([0, 2]);
    expect(framer.next()).toBe("wait");
  });

  it("keeps a torn frame in text as a fault that ends with its line", () => {
    const torn = frameOf(metric(1)).slice(0, 40);
    const stream = join(
      new TextEncoder().encode("hello\n"),
      torn,
      new TextEncoder().encode(" oops\nbye\n\u0000 nul\n"),
      frameOf(metric(2)),
    );
    const whole = gather(stream, [], { text: true });
    expect(whole).toMatchObject({ frames: [metric(2)], text: "hello\nbye\n\u0000 nul\n" });
    expect(whole.skipped).toMatchObject([{ code: "xtrack_bytes_skipped", offset: 6, length: 46 }]);
    expect(gather(stream, everyByte(stream), { text: true })).toEqual(whole);
  });

  it("ends such a fault where no more of it would be kept, and gives the rest as text", () => {
    const torn = join(new Uint8Array([0, 0, 16, 0]), new TextEncoder().encode(`{"v":1,${"x".repeat(300)}\u0000\u0001`));
    const stream = join(torn, frameOf(metric(2)));
    for (const skippedBytesMax of [1, 100, 310, 311, 312, 313, 314]) {
      const options = { text: true, skippedBytesMax };
      const whole = gather(stream, [], options);
      expect(whole.frames).toEqual([metric(2)]);
      expect(whole.raw.join("") + whole.text).toBe(new TextDecoder().decode(torn));
      expect(gather(stream, everyByte(stream), options)).toEqual(whole);
    }
  });
});
