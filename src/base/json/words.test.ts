import fc from "fast-check";
import { expect, test } from "vitest";
import { endOfPlainDigits, endOfPlainText, isSameText, passFourDigits, passPlainText, WordToken } from "./words.ts";

const bytesOf = (text: string) => Uint8Array.from(text, (c) => c.charCodeAt(0));
const viewOf = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.length);

/** What must be looked at one byte at a time. */
const isSpecial = (c: number) => c === 0x22 || c === 0x5c || c < 0x20 || c >= 0x80;

test("never passes a byte that needs a look, whatever stands around it", () => {
  const byte = fc.oneof(
    fc.nat(255),
    fc.constantFrom(0x1f, 0x20, 0x21, 0x22, 0x23, 0x5b, 0x5c, 0x5d, 0x7f, 0x80, 0x30, 0x61),
  );
  fc.assert(
    fc.property(fc.array(byte, { maxLength: 24 }), fc.nat(5), (list, from) => {
      const bytes = Uint8Array.from(list);
      const start = Math.min(from, bytes.length);
      const end = passPlainText(viewOf(bytes), start, bytes.length);
      expect(bytes.subarray(start, end).some(isSpecial)).toBe(false);
    }),
    { numRuns: 6000 },
  );
});

test("tells every byte alone in a word", () => {
  for (let c = 0; c < 256; c++) {
    for (let place = 0; place < 4; place++) {
      for (const other of [0x30, 0x66, 0x20, 0x7f, 0x5f]) {
        const bytes = new Uint8Array(4).fill(other);
        bytes[place] = c;
        expect(passPlainText(viewOf(bytes), 0, 4), `${c} at ${place}`).toBe(isSpecial(c) ? 0 : 4);
        const isDigit = bytes.every((b) => b >= 0x30 && b <= 0x39);
        expect(passFourDigits(viewOf(bytes), 0, 4)).toBe(isDigit ? 4 : 0);
      }
    }
  }
});

test("finds the quote that ends a plain text and nothing else", () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.nat(255), fc.integer({ min: 0x61, max: 0x66 })), { maxLength: 40 }), (list) => {
      const bytes = Uint8Array.from(list);
      const special = bytes.findIndex(isSpecial);
      expect(endOfPlainText(viewOf(bytes), 0, bytes.length)).toBe(bytes[special] === 0x22 ? special : -1);
    }),
    { numRuns: 5000 },
  );
});

test("finds the end of a plain integer and leaves every other number to the cursor", () => {
  for (const [text, expected] of [
    ["12345678,", 8],
    ["0}", 1],
    ["01,", -1],
    ["1.5,", -1],
    ["1e5,", -1],
    ["12E5,", -1],
    ["1234", -1],
    [",", -1],
    ["-5,", -1],
    ["123456789012345678901234567890 ", 30],
  ] as const) {
    expect(endOfPlainDigits(viewOf(bytesOf(text)), 0, text.length), text).toBe(expected);
  }
});

test("compares tokens of every length, also across the end of the bytes", () => {
  for (let size = 4; size < 14; size++) {
    const text = "abcdefghijklmn".slice(0, size);
    const token = new WordToken(text);
    const bytes = bytesOf(`x${text}`);
    expect(token.isAt(viewOf(bytes), 1, bytes.length)).toBe(true);
    expect(token.isAt(viewOf(bytes), 1, bytes.length - 1)).toBe(false);
    for (let place = 1; place <= size; place++) {
      const other = Uint8Array.from(bytes);
      other[place] = 0x7a;
      expect(token.isAt(viewOf(other), 1, other.length)).toBe(false);
      const both = Uint8Array.from([...bytes.subarray(1), ...other.subarray(1)]);
      expect(isSameText(viewOf(both), 0, size, size)).toBe(false);
      expect(isSameText(viewOf(both), 0, 0, size)).toBe(true);
    }
  }
});
