import { expect, it } from "vitest";
import { claimsTraces } from "./claims.ts";

const json = { "content-type": "application/json" };
const head = (body: string | Uint8Array, headers: Record<string, string> = json) => ({
  headers,
  body: typeof body === "string" ? Buffer.from(body) : body,
});

it("tells whose request one on the shared path is, by headers and then by the first known key [OT-15]", () => {
  const protobuf = { "content-type": "application/x-protobuf" };
  expect(claimsTraces(head(new Uint8Array(0), protobuf))).toBe(true);
  expect(claimsTraces(head(Uint8Array.of(10, 0), protobuf))).toBe(true);
  expect(claimsTraces(head(Uint8Array.of(10, 0), { "content-type": "application/protobuf" }))).toBe(true);
  expect(claimsTraces(head(Uint8Array.of(10, 0), { ...protobuf, "x-cirron-batch-id": "b" }))).toBe(false);
  expect(claimsTraces(head('{"resourceSpans":[]}'))).toBe(true);
  expect(claimsTraces(head('{"other":[{"spans":1}],"resourceSpans":[],"spans":[]}'))).toBe(true);
  expect(claimsTraces(head('{"resourceSpans":[]}', { ...json, "x-cirron-sdk-version": "0.3.0" }))).toBe(false);
  expect(claimsTraces(head('{"schema_version":1,"resourceSpans":[]}'))).toBe(false);
  expect(claimsTraces(head('{"spans":[]}'))).toBe(false);
  expect(claimsTraces(head(" {} "))).toBe(true);
  expect(claimsTraces(head("{}", { ...json, "x-cirron-batch-id": "b" }))).toBe(false);
  expect(claimsTraces(head('{"resourceSpans":'))).toBe(true);
  expect(claimsTraces(head("[]"))).toBe(false);
  expect(claimsTraces(head("no json"))).toBe(false);
});
