import fc from "fast-check";
import { expect, test } from "vitest";
import { parseAnsi } from "../../text/ansi.ts";
import { toPieces } from "./log-text.ts";

test("a line without codes is itself", () => {
  expect(parseAnsi("step 12 done")).toEqual({ text: "step 12 done", ranges: [] });
});

test("colours and weight become ranges, and the codes are gone", () => {
  const { text, ranges } = parseAnsi("\u001b[32mok\u001b[0m then \u001b[1;31mbad\u001b[22;39m.");
  expect(text).toBe("ok then bad.");
  expect(ranges).toEqual([
    { from: 0, to: 2, style: "ansi-green" },
    { from: 8, to: 11, style: "ansi-red ansi-bold" },
  ]);
});

test("256 colours and true colours become the nearest of eight", () => {
  expect(parseAnsi("\u001b[38;5;196mx").ranges[0]?.style).toBe("ansi-red");
  expect(parseAnsi("\u001b[38;2;20;200;220mx").ranges[0]?.style).toBe("ansi-cyan");
  expect(parseAnsi("\u001b[38;5;240mx").ranges).toEqual([]);
  expect(parseAnsi("\u001b[48;5;196;32mx").ranges[0]?.style).toBe("ansi-green");
});

test("cursor moves, titles and links are dropped, markup stays text", () => {
  expect(parseAnsi("\u001b[2K\u001b[1Gloss 1 \u001b]0;title\u0007<b>x</b>").text).toBe("loss 1 <b>x</b>");
  expect(parseAnsi("\u001b]8;;javascript:alert(1)\u001b\\click\u001b]8;;\u001b\\").text).toBe("click");
});

test("ranges lie within the text and in order, whatever is printed", () => {
  const part = fc.oneof(
    fc.string(),
    fc.constantFrom("\u001b[31m", "\u001b[0m", "\u001b[38;5;99m", "\u001b[", "\u001b"),
  );
  fc.assert(
    fc.property(fc.array(part), (parts) => {
      const { text, ranges } = parseAnsi(parts.join(""));
      let at = 0;
      for (const range of ranges) {
        expect(range.from).toBeGreaterThanOrEqual(at);
        expect(range.to).toBeGreaterThan(range.from);
        at = range.to;
      }
      expect(at).toBeLessThanOrEqual(text.length);
    }),
  );
});

test("hits are marked across colours, without regard to case", () => {
  const pieces = toPieces("\u001b[32mEpoch\u001b[0m boundary, epoch BOUNDARY", "epoch bound");
  expect(pieces.map((piece) => piece.text).join("")).toBe("Epoch boundary, epoch BOUNDARY");
  expect(pieces.filter((piece) => piece.hit).map((piece) => piece.text)).toEqual(["Epoch", " bound", "epoch BOUND"]);
  expect(pieces[0]).toEqual({ at: 0, text: "Epoch", style: "ansi-green", hit: true });
});

test("signs in a search are only signs", () => {
  expect(toPieces("a.b (c) a+b", "a+b").filter((piece) => piece.hit)).toEqual([
    { at: 8, text: "a+b", style: "", hit: true },
  ]);
});
