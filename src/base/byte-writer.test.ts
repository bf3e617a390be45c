import fc from "fast-check";
import { expect, it } from "vitest";
import { ByteWriter, toAscii } from "./byte-writer.ts";

const textOf = (writer: ByteWriter) => new TextDecoder().decode(writer.view());

it("writes any text as UTF-8, growing as it goes", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "binary" })), (texts) => {
      const writer = new ByteWriter(1);
      for (const text of texts) {
        writer.text(text);
        writer.byte(0x2c);
        writer.raw(toAscii("abc"));
      }
      expect(textOf(writer)).toBe(texts.map((text) => `${text},abc`).join(""));
    }),
  );
});

it.each(["", "é", "\ud800", "𝄞"])("writes long text as UTF-8 that ends with %j", (end) => {
  const writer = new ByteWriter(1);
  writer.text("x".repeat(5000) + end);
  writer.text("y");
  expect(textOf(writer)).toBe(`${`${"x".repeat(5000)}${end}`.toWellFormed()}y`);
});

it("writes nine decimal and twelve hexadecimal digits", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 999_999_999 }), fc.maxSafeNat(), (nanos, large) => {
      const counter = large % 2 ** 48;
      const writer = new ByteWriter(4);
      writer.nineDigits(nanos);
      writer.twelveHexDigits(counter);
      expect(textOf(writer)).toBe(String(nanos).padStart(9, "0") + counter.toString(16).padStart(12, "0"));
    }),
  );
});

it("repeats what it wrote and changes digits in it", () => {
  const writer = new ByteWriter(1);
  writer.text("id ");
  writer.twelveHexDigits(255);
  writer.repeat(0, 15);
  writer.setTwelveHexDigits(18, 4096);
  expect(textOf(writer)).toBe("id 0000000000ffid 000000001000");
});

it("starts again after clear", () => {
  const writer = new ByteWriter(8);
  writer.raw(toAscii("x".repeat(200)));
  writer.clear();
  writer.text("y");
  expect(textOf(writer)).toBe("y");
});
