import { expect, it } from "vitest";
import { toTarget } from "./redirect.ts";

it.each([
  ["http://host:1/a", "/b", "http://host:1/b"],
  ["http://host/a", "https://host/b", "https://host/b"],
  ["https://host/a", "https://host/b/", "https://host/b/"],
  ["https://host/a", "http://host/a", null],
  ["http://host/a", "http://other/a", null],
  ["http://host/a", "http://host:81/a", null],
  ["http://host/a", "http://[", null],
])("follows a redirect only where the key may go: from %s to %s", (url, location, target) => {
  expect(toTarget(url, location)).toBe(target);
});
