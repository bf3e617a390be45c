import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { expectEqual } from "../../../tests/support/expect-equal.ts";
import { columnOf, isBlank, LineSplitter, longLineHeadBytes, type SplitLine } from "./lines.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

function split(chunks: readonly Uint8Array[], lineBytesMax = 1024): SplitLine[] {
  const splitter = new LineSplitter({ lineBytesMax });
  const lines: SplitLine[] = [];
  for (const chunk of chunks) {
    // A copy that is wiped after use shows whether a held line still points into its chunk.
    const own = new Uint8Array(chunk);
    for (const line of splitter.push(own))
      lines.push(line.kind === "line" ? { ...line, bytes: line.bytes.slice() } : line);
    own.fill(0x2a);
  }
  return [...lines, ...splitter.finish()];
}

function texts(lines: readonly SplitLine[]): string[] {
  return lines.map((line) => (line.kind === "line" ? decoder.decode(line.bytes) : `too long: ${line.lengthBytes}`));
}

describe("LineSplitter", () => {
  it("gives one object a line, with its line number and byte offset [ST-01]", () => {
    const lines = split([encoder.encode('{"a":1}\n{"é":2}\n{"c":3}\n')]);
    expect(texts(lines)).toEqual(['{"a":1}', '{"é":2}', '{"c":3}']);
    expect(lines.map((line) => line.place)).toEqual([
      { line: 1, offset: 0 },
      { line: 2, offset: 8 },
      { line: 3, offset: 17 },
    ]);
  });

  it("gives the same lines for every chunking of a recorded file", () => {
    const file = readFileSync("tests/fixtures/semantiva/error_midway/trace.ser.jsonl");
    const whole = split([file], 1 << 20);
    expect(whole).toHaveLength(5);
    const bytewise = split(
      Array.from(file, (byte) => Uint8Array.of(byte)),
      1 << 20,
    );
    expectEqual(bytewise, whole);
    fc.assert(
      fc.property(fc.array(fc.nat(file.length), { maxLength: 12 }), (cuts) => {
        const edges = [0, ...cuts.toSorted((a, b) => a - b), file.length];
        const chunks = edges.slice(1).map((end, i) => file.subarray(edges[i], end));
        expectEqual(split(chunks, 1 << 20), whole);
      }),
    );
  });

  it("takes a CR before the LF as part of the line's end", () => {
    expect(texts(split([encoder.encode("a\r\nb\r"), encoder.encode("\nc")]))).toEqual(["a", "b", "c"]);
  });

  it("says of the last line whether it was ended", () => {
    const [first, second] = split([encoder.encode("a\nb")]);
    expect(first).toMatchObject({ kind: "line", ended: true });
    expect(second).toMatchObject({ kind: "line", ended: false, place: { line: 2, offset: 2 } });
  });

  it("drops a byte order mark at the start of the stream and nowhere else", () => {
    const mark = Uint8Array.of(0xef, 0xbb, 0xbf);
    const lines = split([mark, encoder.encode("a\n"), mark, encoder.encode("b\n")]);
    expect(texts(lines)[0]).toBe("a");
    expect(lines[1]).toMatchObject({ bytes: Uint8Array.of(0xef, 0xbb, 0xbf, 0x62) });
  });

  it("keeps only the head of a line beyond the limit, and recovers at the next LF", () => {
    const long = new Uint8Array(10_000).fill(0x78);
    const lines = split([encoder.encode("a\n"), long, long, encoder.encode("\nb\n")], 5000);
    expect(texts(lines)).toEqual(["a", "too long: 20000", "b"]);
    expect(lines[1]).toMatchObject({ place: { line: 2, offset: 2 } });
    expect((lines[1] as { head: Uint8Array }).head.length).toBe(longLineHeadBytes);
    expect(lines[2]?.place).toEqual({ line: 3, offset: 20_003 });
  });

  it("finds a long line in one chunk, and takes a line of exactly the limit", () => {
    expect(texts(split([encoder.encode("123456\n12345\n123456")], 5))).toEqual(["too long: 6", "12345", "too long: 6"]);
  });

  it("holds no more than the limit and one chunk of a 100 MB line", () => {
    const splitter = new LineSplitter({ lineBytesMax: 1 << 20 });
    const chunk = new Uint8Array(64 * 1024).fill(0x61);
    const lines: SplitLine[] = [];
    const before = process.memoryUsage().arrayBuffers;
    let most = 0;
    for (let i = 0; i < 1600; i++) {
      lines.push(...splitter.push(chunk));
      most = Math.max(most, process.memoryUsage().arrayBuffers - before);
    }
    lines.push(...splitter.push(encoder.encode("\n{}\n")));
    expect(texts(lines)).toEqual(["too long: 104857600", "{}"]);
    expect(most).toBeLessThan(40 << 20);
  });

  it("takes a stream up where it was left", () => {
    const splitter = new LineSplitter({ lineBytesMax: 100 }, { line: 7, offset: 700 });
    expect([...splitter.push(encoder.encode("a\nbc"))][0]?.place).toEqual({ line: 7, offset: 700 });
    expect(splitter.place).toEqual({ line: 8, offset: 702 });
  });
});

it("knows a blank line", () => {
  expect([" \t\r", "", "x", "\0"].map((text) => isBlank(encoder.encode(text)))).toEqual([true, true, false, false]);
});

it("counts columns in characters", () => {
  const line = encoder.encode("é🚀x");
  expect([0, 2, 6, 99].map((offset) => columnOf(line, offset))).toEqual([1, 2, 3, 4]);
});
