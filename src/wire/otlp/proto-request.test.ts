import { expect, it } from "vitest";
import { decodeExport } from "./decode.ts";
import { someSpan, toProtobuf, tracesOf } from "./fixture.testing.ts";
import { toRoleOf } from "./meaning.ts";
import { recordValuesMax } from "./message.ts";
import { ProtobufRequest } from "./proto-request.ts";
import { ProtoWriter } from "./proto-writer.ts";
import { recordsMax } from "./request-pieces.ts";

const roleOf = toRoleOf([]);

/** A field of bytes. */
function field(number: number, bytes: Uint8Array): Uint8Array {
  const out = new ProtoWriter();
  out.bytes(number, bytes);
  return out.finish();
}

function read(body: Uint8Array, pieceBytesMax = 1000) {
  const request = new ProtobufRequest("traces", body);
  expect(request.refusal()).toBeNull();
  const pieces = [...request.pieces(pieceBytesMax)];
  const names: string[] = [];
  let rejected = 0;
  for (const piece of pieces) {
    const decoded = piece === null ? null : decodeExport("traces", piece, { roleOf });
    if (decoded === null || !decoded.ok || decoded.request.signal !== "traces") continue;
    const { rows, length } = decoded.request.columns;
    for (let row = 0; row < length; row++) names.push(rows.name.at(row));
    rejected += decoded.request.rejected;
  }
  return { pieces, names, rejected: request.rejected + rejected, faults: request.faults };
}

const good = (name: string) => toProtobuf("traces", tracesOf([someSpan(1, { name })]));

it("cuts a request although lists in it cannot be read, and takes their neighbours", () => {
  const torn = Uint8Array.of(0x12, 0x7f);
  const body = Buffer.concat([
    ...[good("a"), field(1, torn), field(1, field(2, torn)), field(7, Uint8Array.of(1)), good("b"), good("c")],
  ]);
  const { names, faults, rejected } = read(body, 300);
  expect(names).toEqual(["a", "b", "c"]);
  expect(rejected).toBe(2);
  expect(faults.map(({ detail, raw }) => [detail, Buffer.from(raw)])).toEqual([
    ["a list of records with its resource is no protobuf", Buffer.from(torn)],
    ["a list of records with its scope is no protobuf", Buffer.from(torn)],
  ]);
});

it("keeps nobody waiting for millions of records of no bytes, and reads as many as a body may have", () => {
  const records = Buffer.alloc((recordsMax + 1000) * 2);
  for (let at = 0; at < records.length; at += 2) records[at] = 0x12;
  const { pieces, rejected, faults } = read(field(1, field(2, records)), 256 * 1024);
  expect(rejected).toBe(recordsMax + 1000);
  expect(faults).toMatchObject([{ code: "too_many_items", detail: expect.stringContaining("1000 more") }]);
  expect(pieces.filter((piece) => piece === null).length).toBeGreaterThan(200);
  for (const piece of pieces) expect(piece?.length ?? 0).toBeLessThan(300 * 1024);
});

it("refuses a body whose fields are none, with pauses while it looks", () => {
  const bytes = Buffer.concat([Buffer.alloc(200_000, Uint8Array.of(0x3a, 0)), Uint8Array.of(0x0a)]);
  const steps = new ProtobufRequest("traces", bytes).refusalInSteps();
  let pauses = 0;
  let step = steps.next();
  for (; step.done !== true; step = steps.next()) pauses++;
  expect(pauses).toBeGreaterThan(10);
  expect(step.value).toMatchObject({ code: "otlp_not_export", place: { offset: 200_000 } });
});

it.each(["traces", "logs", "metrics"] as const)(
  "makes nothing of one of %s with more values than anybody sends",
  (signal) => {
    // Values of no bytes in a list, in an attribute: number 9 of a span, 6 of a log record, 12 of a metric.
    const values = Buffer.alloc((recordValuesMax + 10) * 2);
    for (let at = 0; at < values.length; at += 2) values[at] = 0x0a;
    const attribute = { traces: 9, logs: 6, metrics: 12 }[signal];
    const record = field(attribute, Buffer.concat([field(1, Buffer.from("k")), field(2, field(5, values))]));
    const decoded = decodeExport(signal, field(1, field(2, field(2, record))), { roleOf });
    expect(decoded).toMatchObject({
      ok: true,
      request: { rejected: 1, faults: [{ detail: expect.stringContaining("too many values") }] },
    });
  },
);

it.each([
  ["packed", field(2, Buffer.alloc(recordValuesMax + 1))],
  ["one by one", Buffer.alloc(2 * recordValuesMax + 2, Uint8Array.of(0x10, 0))],
])("makes nothing of a point with more buckets than anybody sends, %s", (_, buckets) => {
  // Number 8 of a point of an exponential histogram, which is number 10 of a metric.
  const record = field(10, field(1, field(8, buckets)));
  const decoded = decodeExport("metrics", field(1, field(2, field(2, record))), { roleOf });
  expect(decoded).toMatchObject({
    ok: true,
    request: { rejected: 1, faults: [{ detail: expect.stringContaining("too many values") }] },
  });
});
