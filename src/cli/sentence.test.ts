import { join } from "node:path";
import { expect, it } from "vitest";
import { ApiError } from "./client.ts";
import { toExit } from "./sentence.ts";

const outage = (kind: string, message: string) => toExit(Object.assign(new Error(message), { kind }));

it("says in a sentence that the engine's library is missing, and keeps the stacks of its process to itself", () => {
  const ended = "the engine did not start: it ended with 1. Error:";
  const missing = outage("engine_down", `${ended} no native binding for x\n    at loadNative (x.js:1:1)`);
  expect(missing.message).toBe("The library of the embedded engine is not installed for this platform.");
  const broken = outage("engine_down", `${ended} broken\n    at open (y.js:2:2)`);
  expect([broken.code, broken.message]).toEqual([3, `${ended} broken`]);
});

it.each([
  ["/no/dir/x.sock", "there is no folder /no/dir"],
  [join(import.meta.dirname, "x.sock"), "this user may not"],
])("names the path of a socket as it was given, why it cannot be, and the flag for another: %s", (path, why) => {
  const listen = { syscall: "listen", code: "EACCES", address: `${path}.e0d912`, port: -1 };
  const { message, hint } = toExit(Object.assign(new Error("listen"), listen));
  expect([message, hint]).toEqual([`Cannot listen on ${path}: ${why}.`, "Choose another path with --unix."]);
});

it("keeps the stack of a bug", () => {
  expect(toExit(new TypeError("mine")).message).toContain("sentence.test.ts");
});

it("tells a request that no server takes from one that has no good answer", () => {
  const refused = (code: string) => toExit(new ApiError(400, { code, message: "No.", hint: "", at: null }, 0)).code;
  expect(["request_invalid", "export_kind", "filter_syntax", "run_not_found"].map(refused)).toEqual([2, 2, 1, 1]);
});
