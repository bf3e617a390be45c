import fc from "fast-check";
import { expect, test } from "vitest";
import { JsonCursor, jsonKind, numberForm } from "./cursor.ts";
import { parseJson } from "./parse.ts";
import { JsonTrouble } from "./value.ts";

const encode = (text: string) => new TextEncoder().encode(text);

test("walks an object by key without making strings", () => {
  const cursor = new JsonCursor(
    encode(' { "id" : "a\\u0062" , "n": -12.5e3,"list":[1, {"x":[]}, true],"last":null } '),
  );
  const seen: string[] = [];
  for (let more = cursor.openObject(); more; more = cursor.nextMember()) {
    if (cursor.keyIs(encode("id"))) {
      expect(cursor.peek()).toBe(jsonKind.string);
      cursor.readString();
      expect([cursor.stop - cursor.start, cursor.escaped, cursor.wide, cursor.lone]).toStrictEqual([
        7,
        true,
        false,
        false,
      ]);
      seen.push("id");
    } else if (cursor.keyIs(encode("n"))) {
      cursor.readNumber();
      expect(cursor.form).toBe(numberForm.float);
      expect(new TextDecoder().decode(cursor.bytes.subarray(cursor.start, cursor.stop))).toBe("-12.5e3");
      seen.push("n");
    } else if (cursor.keyIs(encode("list"))) {
      cursor.skipValue();
      seen.push("list");
    } else {
      cursor.readNull();
      seen.push("last");
    }
  }
  cursor.finish();
  expect(seen).toStrictEqual(["id", "n", "list", "last"]);
  expect(cursor.depth).toBe(0);
});

test("reads nothing outside the part it was given", () => {
  const bytes = encode('[1]"23"[4]');
  const cursor = new JsonCursor(bytes, 3, 7);
  cursor.readString();
  cursor.finish();
  expect([cursor.start, cursor.stop]).toStrictEqual([4, 6]);
  cursor.reset(bytes, 3, 6);
  expect(() => cursor.readString()).toThrow(JsonTrouble);
});

test("skips exactly the values that parseJson reads", () => {
  const piece = fc.constantFrom(...'{}[],:" 01-.e'.split(""), '"a"', '"a":', "true", "null", "\\ud83d", "NaN", "é");
  fc.assert(
    fc.property(
      fc.oneof(
        fc.json(),
        fc.array(piece, { maxLength: 12 }).map((all) => all.join("")),
      ),
      (text) => {
        const bytes = encode(text);
        const cursor = new JsonCursor(bytes);
        let skipped: number | undefined;
        try {
          cursor.skipValue();
          cursor.finish();
        } catch (error) {
          skipped = (error as JsonTrouble).offset;
        }
        const result = parseJson(bytes);
        expect(skipped).toBe(result.ok ? undefined : result.fault.offset);
      },
    ),
    { numRuns: 4000 },
  );
});

test("never compares a key with escapes as equal", () => {
  const cursor = new JsonCursor(encode('{"\\u0061":1}'));
  cursor.openObject();
  expect(cursor.escaped).toBe(true);
  expect(cursor.keyIs(encode("\\u0061"))).toBe(false);
});

test("notes blanks between tokens but not inside strings", () => {
  const dense = new JsonCursor(encode('{"a b":[1,"c d"]}'));
  dense.skipValue();
  expect(dense.blanks).toBe(false);
  const loose = new JsonCursor(encode('{"a":[1, 2]}'));
  loose.skipValue();
  expect(loose.blanks).toBe(true);
});

test("passes a text in pieces of any size as it does at once, or fails at the same place", () => {
  const letters = fc.constantFrom(
    "a",
    "bcde fgh 1234",
    "é",
    "漢字",
    "😀",
    '\\"',
    "\\u00e9",
    "\\ud83d\\ude00",
    "\\ud800",
    "\\x",
    "\u0001",
  );
  const read = (bytes: Uint8Array, pass: (cursor: JsonCursor) => void) => {
    const cursor = new JsonCursor(bytes);
    try {
      pass(cursor);
    } catch (error) {
      return (error as JsonTrouble).message;
    }
    const { start, stop, pos, escaped, wide, lone } = cursor;
    return { start, stop, pos, escaped, wide, lone };
  };
  fc.assert(
    fc.property(fc.array(letters), fc.integer({ min: 1, max: 9 }), fc.boolean(), (pieces, size, isLong) => {
      const text = `"${isLong ? "x".repeat(2000) : ""}${pieces.join("")}"`;
      for (const bytes of [encode(text), encode(text.slice(0, -1))]) {
        const inPieces = read(bytes, (cursor) => {
          cursor.openString();
          while (!cursor.passText(cursor.pos + size));
        });
        expect(inPieces).toEqual(read(bytes, (cursor) => cursor.readString()));
      }
    }),
    { numRuns: 300 },
  );
});
