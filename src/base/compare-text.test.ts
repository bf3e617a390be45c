import fc from "fast-check";
import { expect, it } from "vitest";
import { compareText } from "./compare-text.ts";

it("orders text as its UTF-8 bytes are ordered", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (a, b) => {
      expect(Math.sign(compareText(a, b))).toBe(Math.sign(Buffer.compare(Buffer.from(a), Buffer.from(b))));
    }),
  );
});

it("puts an astral character after the end of the basic plane", () => {
  expect(["\u{1f680}", "\uffee", "a"].toSorted(compareText)).toEqual(["a", "\uffee", "\u{1f680}"]);
});
