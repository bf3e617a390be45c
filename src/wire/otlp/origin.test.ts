import { expect, test } from "vitest";
import { encodeMessage } from "./message.ts";
import { noOrigin, readOrigin } from "./origin.ts";
import { resource } from "./schema.ts";

function originOf(text: string) {
  const attributes = [{ key: "service.name", value: { stringValue: text } }];
  return readOrigin({ ...noOrigin, resource: encodeMessage(resource, { attributes }) });
}

test("reads an origin that comes again once", () => {
  expect(originOf("train")).toBe(originOf("train"));
});

test("holds few megabytes of origins, however large and many they are", () => {
  const before = originOf("first");
  const text = "x".repeat(1_000_000);
  for (let at = 0; at < 12; at++) originOf(`${at}${text}`);
  expect(originOf("first")).not.toBe(before);
  expect(originOf("first")).toEqual(before);
});
