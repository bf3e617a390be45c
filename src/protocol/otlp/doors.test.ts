import { expect, it } from "vitest";
import { defaultJsonLimits } from "#base/json/value.ts";
import { otlpDoors, takeExport } from "./doors.ts";

const busy = { status: 429, message: "no room", retryAfterS: 1.5 };
const body = new Uint8Array(0);

it("asks to come again with 503 and Retry-After, never with 429, on every path [OT-27]", () => {
  expect(otlpDoors).toHaveLength(6);
  for (const { toErrorReply } of otlpDoors) {
    const json = toErrorReply?.(busy, { headers: { "content-type": "application/json" }, body });
    expect(json).toMatchObject({ status: 503, headers: { "retry-after": "2", "content-type": "application/json" } });
    expect(JSON.parse(Buffer.from(json?.body as Uint8Array).toString())).toEqual({ code: 14, message: "no room" });
    const protobuf = toErrorReply?.(busy, { headers: { "content-type": "application/x-protobuf" }, body });
    expect(protobuf).toMatchObject({ status: 503, headers: { "content-type": "application/x-protobuf" } });
    expect(Buffer.from(protobuf?.body as Uint8Array)).toEqual(Buffer.from([8, 14, 0x12, 7, ...Buffer.from("no room")]));
  }
});

it("says for good what can never be taken [OT-23]", () => {
  const refused = { status: 400, message: "no", retryAfterS: null };
  const reply = otlpDoors[0]?.toErrorReply?.(refused, { headers: { "content-type": "application/json" }, body });
  expect([reply?.status, reply?.headers]).toEqual([400, { "content-type": "application/json" }]);
});

it("lets others have their turns while it looks through a large body", async () => {
  const item = '{"name":"x","attributes":[{"key":"a","value":{"intValue":"1"}}]}';
  const spans = Array.from({ length: 100_000 }, () => item).join(",");
  const text = `{"resourceSpans":[{"scopeSpans":[{"spans":[${spans}]}]}]}`;
  let turns = 0;
  const ticking = setInterval(() => turns++, 0);
  const arrival = { workspace: "w", transport: "http", source: "", runOverride: null, imported: false, receivedNs: 1n };
  const taken = await takeExport("traces", {
    ...{ arrival, headers: {}, body: Buffer.from(text), query: {}, limits: { json: defaultJsonLimits } },
  });
  clearInterval(ticking);
  expect(taken.refused).toBeNull();
  expect(turns).toBeGreaterThan(1);
});
