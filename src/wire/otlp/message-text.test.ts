import { expect, test } from "vitest";
import { countPauses } from "#base/turns.testing.ts";
import { parseAttributes, parseAttributesInSteps } from "./attribute-values.ts";
import type { Message } from "./message.ts";
import { formatMessage } from "./message-text.ts";
import { span } from "./schema.ts";

const textOf = (message: Message): string => countPauses(formatMessage(span, message)).value.text.join("");

test("a record of very many values is read back and written with pauses", () => {
  const stored = JSON.stringify({ l: Array.from({ length: 50_000 }, (_, i) => [i, `${i}`, { k: true }]) });
  const read = countPauses(parseAttributesInSteps(stored));
  const written = countPauses(formatMessage(span, { name: "s", attributes: read.value }));
  expect(written.value.text.join("") === textOf({ name: "s", attributes: parseAttributes(stored) })).toBe(true);
  expect(Math.min(read.pauses, written.pauses)).toBeGreaterThan(50);
});

test("a long text is read back and written with pauses, and stays in pieces", () => {
  const text = 'é"'.repeat(1 << 20);
  const read = countPauses(parseAttributesInSteps(JSON.stringify({ t: text })));
  const { value, pauses } = countPauses(formatMessage(span, { attributes: read.value }));
  const expected = JSON.stringify({ attributes: [{ key: "t", value: { stringValue: text } }] });
  expect(value.text.join("") === expected).toBe(true);
  expect(value.text.length).toBeGreaterThan(3);
  expect(Math.min(read.pauses, pauses)).toBeGreaterThan(3);
});

test("members that OTLP does not have yet stand in an object, whatever its other fields are, and cannot break it", () => {
  const others = (text: string): Message => ({ "?members": text });
  expect(textOf({ ...others('{"later":{"x":NaN}}'), name: "a" })).toBe('{"later":{"x":"NaN"},"name":"a"}');
  expect(textOf(others('{"later":1,"name":2}'))).toBe('{"later":1}');
  for (const text of ["", "{}", "[1]", "7", "{"]) expect(textOf({ name: "a", ...others(text) })).toBe('{"name":"a"}');
  const { isWhole } = countPauses(formatMessage(span, { "?fields": Uint8Array.of(0x98, 0x06, 0x05) })).value;
  expect(isWhole).toBe(false);
});
