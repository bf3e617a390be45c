import { expect, it } from "vitest";
import { defaultJsonLimits } from "#base/json/value.ts";
import { decodeExport } from "./decode.ts";
import { someSpan, toList, tracesOf } from "./fixture.testing.ts";
import { JsonRequest } from "./json-request.ts";
import { toRoleOf } from "./meaning.ts";
import { recordValuesMax } from "./message.ts";
import { recordsMax } from "./request-pieces.ts";

const roleOf = toRoleOf([]);

/** What a request becomes: the ids of its spans with the scope of each, and what is wrong with the rest. */
function read(text: string) {
  const request = new JsonRequest("traces", Buffer.from(text), defaultJsonLimits);
  const refusal = request.refusal();
  const spans: string[] = [];
  let pauses = 0;
  for (const piece of refusal === null ? request.pieces(2000) : []) {
    if (piece === null) {
      pauses++;
      continue;
    }
    const decoded = decodeExport("traces", piece, { roleOf });
    if (!decoded.ok || decoded.request.signal !== "traces") throw new Error("no piece of traces");
    const { rows, length } = decoded.request.columns;
    for (let row = 0; row < length; row++) {
      const { resource = {}, scope } = JSON.parse(rows.origin.at(row)) as {
        resource?: { "service.name"?: string };
        scope?: { name: string };
      };
      spans.push(`${rows.name.at(row)} of ${resource["service.name"] ?? "-"}/${scope?.name ?? "-"}`);
    }
  }
  const { rejected, faults } = request;
  return { refusal: refusal?.detail ?? null, spans, rejected, faults, pauses };
}

const span = (at: number) => JSON.stringify(someSpan(at, { name: `s${at}` }));
const resource = JSON.stringify({ attributes: toList({ "service.name": "a" }) });

it("finds the resource and scope of a record wherever they stand, also behind it or twice the list", () => {
  const { spans, faults } = read(`{"unknown":[{"a":[1]}],"resourceSpans":[
    {"scopeSpans":[{"spans":[${span(1)}],"scope":{"name":"x"}},{"spans":[${span(2)}]}],"resource":${resource}},
    {"resource":null,"scopeSpans":[{"scope":{"name":"y"},"spans":[${span(3)}],"spans":[${span(4)}]}]},
    {"scopeSpans":null},{}]}`);
  expect(spans).toEqual(["s1 of a/x", "s2 of a/-", "s3 of -/y", "s4 of -/y"]);
  expect(faults).toEqual([]);
});

it("keeps what is none as faults at their places, and takes their neighbours", () => {
  const { spans, faults, rejected } = read(`{"resourceSpans":[1,{"scopeSpans":{}},
    {"scopeSpans":[[],{"spans":7},{"scope":{"name":5},"spans":[${span(1)}]},{"spans":[null,${span(2)},{"name":1}]}]}]}`);
  expect(spans).toEqual(["s2 of -/-"]);
  expect(faults.map(({ detail }) => detail)).toEqual([
    "a record is no object",
    "/scopeSpans is no list",
    "a record is no object",
    "/spans is no list",
    "a record is no object",
    "/name is no text",
    "/name is no text",
  ]);
  expect(faults.map(({ raw }) => Buffer.from(raw).toString())).toEqual([
    ...["1", "{}", "[]", "7", "null", '{"name":5}', '{"name":1}'],
  ]);
  expect(rejected).toBe(7);
});

it("refuses a text that is no request, and says where", () => {
  expect(read("[]").refusal).toBe("a request for traces is an object");
  expect(read('{"resourceSpans":{}}').refusal).toBe("resourceSpans is no list");
  expect(read('{"resourceSpans":[{"scopeSpans":[{"spans":[{}').refusal).toContain("the text ends");
  expect(read(`{"resourceSpans":[]} x`).refusal).toContain("after the end");
  expect(read('{"resourceSpans":null}')).toMatchObject({ refusal: null, spans: [], faults: [] });
});

it("offers pauses all along, while it looks through a text and while it reads it", () => {
  const text = JSON.stringify(tracesOf(Array.from({ length: 3000 }, (_, at) => someSpan(at))));
  const request = new JsonRequest("traces", Buffer.from(text), defaultJsonLimits);
  const steps = request.refusalInSteps();
  let scanned = 0;
  while (steps.next().done !== true) scanned++;
  expect(scanned).toBeGreaterThanOrEqual(Math.floor(3000 / 256));
  const wide = `{"resourceSpans":[],"x":[${"1,".repeat(100_000)}1]}`;
  const others = new JsonRequest("traces", Buffer.from(wide), defaultJsonLimits).refusalInSteps();
  let passed = 0;
  while (others.next().done !== true) passed++;
  expect(passed).toBeGreaterThan(20);
  const { pauses, spans } = read(text);
  expect(spans).toHaveLength(3000);
  expect(pauses).toBeGreaterThanOrEqual(Math.floor(text.length / (70 * 1024)));
});

it("offers pauses while one large record is read, copied and decoded, and refuses one that is none", () => {
  const large = (name: string | number) =>
    JSON.stringify({ ...someSpan(1, {}), name, attributes: toList({ text: "x".repeat(2 << 20) }) });
  const { pauses, spans } = read(`{"resourceSpans":[{"scopeSpans":[{"spans":[${large("big")},${span(2)}]}]}]}`);
  expect(spans).toEqual(["big of -/-", "s2 of -/-"]);
  // Found, read, made a message, written, put together, decoded; and within the text.
  expect(pauses).toBeGreaterThanOrEqual(6);
  const { faults } = read(`{"resourceSpans":[{"scopeSpans":[{"spans":[${large(7)}]}]}]}`);
  expect(faults.map(({ detail }) => detail)).toEqual(["/name is no text"]);
});

it("reads as many records as a body may have, and keeps the rest as one fault", () => {
  const text = `{"resourceSpans":[{"scopeSpans":[{"spans":[${"1,".repeat(recordsMax + 4)}${span(1)}]}]}]}`;
  const { rejected, faults, spans } = read(text);
  expect([rejected, spans, faults.length]).toEqual([recordsMax + 5, [], 1002]);
  expect(faults.at(-1)).toMatchObject({
    code: "too_many_items",
    detail: expect.stringContaining("5 more"),
    place: { offset: text.indexOf("1,") + recordsMax * 2 },
  });
});

it("makes no objects of a record with more values than anybody sends", () => {
  const list = `{"arrayValue":{"values":[${"{},".repeat(recordValuesMax)}{}]}}`;
  const wide = `{"name":"wide","attributes":[{"key":"k","value":${list}}]}`;
  const { faults, spans } = read(`{"resourceSpans":[{"scopeSpans":[{"spans":[${wide},${span(1)}]},
    {"scope":{"attributes":[{"key":"k","value":${list}}]},"spans":[${span(2)}]}]}]}`);
  expect(spans).toEqual(["s1 of -/-"]);
  expect(faults.map(({ detail }) => detail)).toEqual([
    `a record has more than ${recordValuesMax} values`,
    `/scope has more than ${recordValuesMax} values`,
  ]);
});
