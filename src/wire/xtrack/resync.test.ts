import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Framer } from "./frame.ts";
import { everyByte, frameOf, gather, join } from "./stream-cases.testing.ts";

const event = (seq: number, pad = "") =>
  `{"v":1,"t":"log","m":{"seq":${seq},"ts":${1794711238863750 + seq}},"p":{"run_id":"r","level":"info","msg":"${pad}"}}`;

describe("resync", () => {
  it("discards a frame that is not JSON, reports it with its bytes, and goes on behind it [XT-23]", () => {
    const bad = '{"v":1,"t":"log",}';
    const stream = join(frameOf(event(1)), frameOf(bad), frameOf(event(2)));
    const whole = gather(stream);
    expect(whole.frames).toEqual([event(1), event(2)]);
    expect(whole.skipped).toMatchObject([
      {
        code: "json_syntax",
        offset: 4 + event(1).length,
        length: 4 + bad.length,
        detail: expect.stringContaining("key in quotes"),
      },
    ]);
    expect(whole.raw[0]?.slice(4)).toBe(bad);
    expect(gather(stream, everyByte(stream))).toEqual(whole);
  });

  it("scans for a plausible length, tries to decode, and else advances by one byte [XT-25]", () => {
    const junk = Uint8Array.of(0, 0, 0, 3, 0x7b, 0, 0, 0, 9, 0x7b, 0x22, 0, 0x7d);
    const stream = join(frameOf(event(1)), junk, frameOf(event(2)), junk, junk, frameOf(event(3)));
    const whole = gather(stream);
    expect(whole.frames).toEqual([event(1), event(2), event(3)]);
    expect(whole.skipped.map(({ length, code }) => ({ length, code }))).toEqual([
      { length: 13, code: "xtrack_bytes_skipped" },
      { length: 26, code: "xtrack_bytes_skipped" },
    ]);
    expect(gather(stream, everyByte(stream))).toEqual(whole);
  });

  it("finds every whole frame of a sender that tore 56 frames in the middle", () => {
    const parts: Uint8Array[] = [];
    const whole: string[] = [];
    for (let seq = 1; seq <= 8000; seq++) {
      const frame = frameOf(event(seq, "m".repeat(seq % 90)));
      if (seq % 140 === 0 && seq / 140 <= 56) parts.push(frame.slice(0, 1 + ((seq * 7919) % (frame.length - 1))));
      else {
        parts.push(frame);
        whole.push(event(seq, "m".repeat(seq % 90)));
      }
    }
    const found = gather(join(...parts));
    expect(found.frames).toEqual(whole);
    expect(found.skipped).toHaveLength(56);
    expect(found.skipped.reduce((sum, range) => sum + range.length, 0)).toBe(
      parts.reduce((sum, part) => sum + part.length, 0) - whole.reduce((sum, text) => sum + text.length + 4, 0),
    );
  });

  it("is not held up by a torn frame that claims megabytes", () => {
    const huge = join(Uint8Array.of(0, 0x70, 0, 0), new TextEncoder().encode('{"v":1,"t":"param","m":'));
    const framer = new Framer();
    framer.push(huge);
    expect(framer.next()).toBe("wait");
    framer.push(frameOf(event(1)));
    expect(framer.next()).toBe("skipped");
    expect(framer.next()).toBe("frame");
    expect(framer.frameOffset).toBe(huge.length);
  });

  it("recovers every untouched frame after splices, deletions, duplications and junk", () => {
    const edit = fc.record({
      kind: fc.constantFrom("cut", "delete", "twice", "junk", "flip"),
      at: fc.nat(39),
      bytes: fc.uint8Array({ minLength: 1, maxLength: 30 }),
      place: fc.nat(),
    });
    fc.assert(
      fc.property(fc.array(edit, { maxLength: 12 }), fc.array(fc.nat(4000), { maxLength: 8 }), (edits, cuts) => {
        const frames = Array.from({ length: 40 }, (_, seq) => frameOf(event(seq, "é\\u0000x".repeat(seq % 4))));
        const touched = new Set<number>();
        const doubled = new Set<number>();
        const before: Uint8Array[][] = frames.map(() => []);
        for (const { kind, at, bytes, place } of edits) {
          const frame = frames[at] as Uint8Array;
          if (kind === "cut") frames[at] = frame.slice(0, place % frame.length);
          else if (kind === "delete") frames[at] = frame.slice(0, 0);
          else if (kind === "twice") doubled.add(at);
          else if (kind === "junk") before[at]?.push(bytes);
          else frames[at] = frame.map((byte, i) => (i === place % frame.length ? byte ^ 0x55 : byte));
          if (kind !== "twice" && kind !== "junk") touched.add(at);
        }
        const parts = frames.flatMap((frame, i) => [...(before[i] ?? []), frame, ...(doubled.has(i) ? [frame] : [])]);
        const stream = join(...parts);
        const found = gather(stream);
        const intact = frames.flatMap((frame, i) => {
          const text = new TextDecoder().decode(frame.subarray(4));
          return touched.has(i) ? [] : doubled.has(i) ? [text, text] : [text];
        });
        const foundIntact = found.frames.filter((text) => intact.includes(text));
        expect(foundIntact).toEqual(intact);
        const told = found.frames.reduce((sum, text) => sum + new TextEncoder().encode(text).length + 4, 0);
        expect(told + found.skipped.reduce((sum, range) => sum + range.length, 0)).toBe(stream.length);
        expect(
          gather(
            stream,
            cuts.filter((cut) => cut < stream.length),
          ),
        ).toEqual(found);
      }),
      { numRuns: 200 },
    );
  });

  it("gives the same frames and ranges for any bytes at any cuts", () => {
    const soup = fc.array(
      fc.oneof(
        fc.uint8Array({ maxLength: 12 }),
        fc.constant(frameOf(event(1))),
        fc.constant(frameOf('{"a":1}')),
        fc.constant(Uint8Array.of(0, 0, 0, 40, 0x7b)),
        fc.constant(Uint8Array.of(0, 0, 0, 0)),
        fc.constant(new TextEncoder().encode("text\n")),
      ),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(soup, fc.boolean(), (parts, text) => {
        const stream = join(...parts);
        const whole = gather(stream, [], { text });
        expect(gather(stream, everyByte(stream), { text })).toEqual(whole);
      }),
      { numRuns: 500 },
    );
  });

  it("ends on many false length prefixes, which would take hours if each were followed", () => {
    const hostile = (size: number) => {
      const bytes = new Uint8Array(size);
      const unit = [0, 1, 0xff, 0xff, 0x7b, 0x22, 0x61];
      for (let i = 0; i < size; i++) bytes[i] = unit[i % unit.length] as number;
      return bytes;
    };
    // More than a million false prefixes of 128 KiB each: to follow every claim would be to look at 150 GB.
    expect(gather(join(hostile(1 << 23), frameOf(event(1)))).frames).toEqual([event(1)]);
  });

  it("keeps only the first bytes of a long skipped range", () => {
    const found = gather(join(new Uint8Array(1 << 20), frameOf(event(1))), [], { skippedBytesMax: 100 });
    expect(found).toMatchObject({ frames: [event(1)], skipped: [{ offset: 0, length: 1 << 20 }] });
    expect(found.raw[0]).toHaveLength(100);
  });
});
