import fc from "fast-check";
import { expect, it } from "vitest";
import { atOnce } from "#base/turns.ts";
import { expectEqual } from "../../../tests/support/expect-equal.ts";
import { anyMessage } from "./any-message.testing.ts";
import { type DecodedExport, decodeExport } from "./decode.ts";
import * as fixture from "./fixture.testing.ts";
import { toRoleOf } from "./meaning.ts";
import { decodeMessage, encodeMessage, type Message } from "./message.ts";
import { encodeOrigin } from "./origin.ts";
import { ProtobufRequest } from "./proto-request.ts";
import { rebuildLog, rebuildMetric, rebuildSpan } from "./rebuild.ts";
import { RequestBuilder, withoutPauses } from "./request-pieces.ts";
import { type Signal, signals, span } from "./schema.ts";
import type { SpanColumns } from "./span-columns.ts";

const roleOf = toRoleOf(["my.step"]);

function decode(signal: Signal, body: Uint8Array): DecodedExport {
  const result = decodeExport(signal, body, { roleOf });
  if (!result.ok) throw new Error(result.refusal.detail);
  return result.request;
}

/** The records of a request, rebuilt from its columns, as a request again. */
function rebuild(request: DecodedExport): Uint8Array {
  const builder = new RequestBuilder();
  for (let row = 0; row < request.columns.length; row++) {
    const { message, origin } = rebuildRow(request, row);
    builder.add(encodeOrigin(origin), encodeMessage(signals[request.signal].record, message));
  }
  return builder.finish();
}

function rebuildRow(request: DecodedExport, row: number): { message: Message; origin: string } {
  switch (request.signal) {
    case "traces": {
      const { rows } = request.columns;
      const steps = rebuildSpan({
        span_id: rows.span_id.at(row),
        parent_id: rows.parent_id.isNull(row) ? null : rows.parent_id.inner.at(row),
        name: rows.name.at(row),
        start_ns: String(rows.start_ns.at(row)),
        end_ns: String(rows.end_ns.at(row)),
        attrs: rows.attrs.at(row),
        extra: rows.extra.at(row),
        raw: rows.raw.at(row),
      });
      return { message: atOnce(steps), origin: rows.origin.at(row) };
    }
    case "logs": {
      const { rows } = request.columns;
      const [ts_ns, msg, fields] = [String(rows.ts_ns.at(row)), rows.msg.at(row), rows.fields.at(row)];
      const steps = rebuildLog({ ts_ns, msg, fields, extra: rows.extra.at(row), raw: rows.raw.at(row) });
      return { message: atOnce(steps), origin: rows.origin.at(row) };
    }
    case "metrics": {
      const { rows } = request.columns;
      const payload = rows.payload.at(row);
      const { origin } = JSON.parse(payload) as { origin: object };
      return { message: atOnce(rebuildMetric(payload, rows.raw.at(row))), origin: JSON.stringify(origin) };
    }
  }
}

it("gives back every value of every record from its columns [OT-13]", () => {
  const requests = {
    traces: fixture.tracesOf([fixture.fullSpan, fixture.someSpan(1)]),
    metrics: fixture.metricsOf(fixture.everyMetric),
    logs: fixture.logsOf(fixture.someLogs),
  };
  for (const signal of ["traces", "metrics", "logs"] as const) {
    const body = fixture.toProtobuf(signal, requests[signal]);
    const request = decode(signal, body);
    expect(request.faults).toEqual([]);
    expect(Buffer.from(rebuild(request)).toString("hex")).toBe(Buffer.from(body).toString("hex"));
  }
});

it.each(["", '"', "\\", "\n", "é", "ab\u007f"])("gives back a long text that ends with %j [OT-13]", (end) => {
  for (const size of [1500, 1501, 1502, 1503]) {
    const text = "x".repeat(size) + end;
    const span = fixture.someSpan(1, { attributes: fixture.toList({ text }) });
    const { columns } = decode("traces", fixture.toProtobuf("traces", fixture.tracesOf([span])));
    expect(JSON.parse((columns as SpanColumns).rows.attrs.at(0))).toEqual({ text });
  }
});

it("gives back spans of any content, from columns or from the bytes it kept [OT-13]", () => {
  const times = fc.record({
    traceId: fc.uint8Array({ minLength: 16, maxLength: 16 }).filter((id) => id.some((byte) => byte > 0)),
    spanId: fc.uint8Array({ minLength: 8, maxLength: 8 }).filter((id) => id.some((byte) => byte > 0)),
    startTimeUnixNano: fc.bigInt({ min: 1n, max: 2n ** 62n }),
    endTimeUnixNano: fc.bigInt({ min: 0n, max: 2n ** 62n }),
  });
  fc.assert(
    fc.property(anyMessage(span), times, ({ parentSpanId: _, ...message }, known) => {
      const bytes = encodeMessage(span, { ...message, ...known });
      const builder = new RequestBuilder();
      builder.add(encodeOrigin('{"resource":{}}'), bytes);
      const request = decode("traces", builder.finish());
      expect(request.faults).toEqual([]);
      expectEqual(encodeMessage(span, rebuildRow(request, 0).message), bytes);
    }),
    { numRuns: 300 },
  );
});

it("never throws, whatever the bytes are, and gives only whole rows [OT-06]", () => {
  const body = fixture.toProtobuf("traces", fixture.tracesOf([fixture.fullSpan, fixture.someSpan(1)]));
  const check = (signal: Signal, bytes: Uint8Array): void => {
    const result = decodeExport(signal, bytes, { roleOf });
    if (!result.ok || result.request.signal !== "traces") return;
    const { rows, length } = result.request.columns;
    for (const column of [rows.span_id, rows.attrs, rows.extra, rows.raw, rows.name, rows.index, rows.origin])
      expect(column.length).toBe(length);
    for (let row = 0; row < length; row++) JSON.parse(rows.attrs.at(row));
  };
  for (let end = 0; end < body.length; end++) check("traces", body.subarray(0, end));
  for (const signal of ["traces", "metrics", "logs"] as const)
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => check(signal, bytes)),
      { numRuns: 500 },
    );
  fc.assert(
    fc.property(fc.nat(body.length - 1), fc.nat(255), (at, byte) => {
      const changed = body.slice();
      changed[at] = byte;
      check("traces", changed);
    }),
    { numRuns: 2000 },
  );
});

it("is not led to the end of the stack by values within values", () => {
  let value: Uint8Array = new Uint8Array(0);
  for (let depth = 0; depth < 5000; depth++) {
    const wrapped = decodeDeeper(value);
    value = wrapped;
  }
  const bytes = Buffer.concat([encodeMessage(span, { name: "deep" }), field(9, Buffer.concat([field(2, value)]))]);
  const builder = new RequestBuilder();
  builder.add(encodeOrigin('{"resource":{}}'), bytes);
  const request = decode("traces", builder.finish());
  expect(request.faults).toMatchObject([{ code: "otlp_record", detail: expect.stringContaining("too deep") }]);
  expect(decodeMessage(span, bytes)).toBeNull();
});

/** An AnyValue that holds a list with one AnyValue. */
function decodeDeeper(inner: Uint8Array): Uint8Array {
  return field(5, field(1, inner));
}

function field(number: number, bytes: Uint8Array): Uint8Array {
  const size: number[] = [];
  let rest = bytes.length;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) size.push((rest % 0x80) | 0x80);
  return Buffer.concat([Uint8Array.of(number * 8 + 2, ...size, rest), bytes]);
}

it("rejects a span without ids or start, and takes its neighbours [OT-06]", () => {
  const spans = [
    fixture.someSpan(1, { traceId: "00000000000000000000000000000000" }),
    fixture.someSpan(2),
    fixture.someSpan(3, { spanId: "ab" }),
    fixture.someSpan(4, { startTimeUnixNano: "0" }),
  ];
  const request = decode("traces", fixture.toProtobuf("traces", fixture.tracesOf(spans)));
  expect([request.columns.length, request.rejected]).toEqual([1, 3]);
  expect(request.faults.map(({ detail }) => detail)).toEqual([
    "a span has no trace id of 16 bytes",
    "a span has no span id of 8 bytes",
    "a span has no start",
  ]);
});

it("makes points of the numbers on the span of a step, and of no other [OT-21]", () => {
  const spans = [
    fixture.someSpan(1, { attributes: fixture.toList({ "megatron.iteration": 4n, "megatron.loss": 2.5, note: "x" }) }),
    fixture.someSpan(2, { attributes: fixture.toList({ "megatron.loss": 9.5 }) }),
    fixture.someSpan(3, { attributes: fixture.toList({ "my.step": "5", lr: 0.1, "thread.id": 7n }) }),
  ];
  const request = decode("traces", fixture.toProtobuf("traces", fixture.tracesOf(spans)));
  if (request.signal !== "traces") throw new Error("no traces");
  const { rows } = request.columns.points;
  const points = Array.from({ length: rows.key.length }, (_, row) => [
    rows.key.at(row),
    rows.step.inner.at(row),
    rows.value.inner.at(row),
    rows.worker.at(row),
  ]);
  expect(points).toEqual([
    ["megatron.loss", 4n, 2.5, "3"],
    ["lr", 5n, 0.1, "3"],
  ]);
  const { index, thread_id, rank } = request.columns.rows;
  expect([index.inner.at(0), index.isNull(1), index.inner.at(2), thread_id.inner.at(2), rank.at(0)]).toEqual([
    4n,
    true,
    5n,
    7n,
    3,
  ]);
});

it("cuts a large request into pieces that hold the same records [OT-14]", () => {
  const spans = Array.from({ length: 500 }, (_, at) =>
    fixture.someSpan(at, { attributes: fixture.toList({ n: BigInt(at) }) }),
  );
  const body = fixture.toProtobuf("traces", fixture.tracesOf(spans));
  const pieces = [...withoutPauses(new ProtobufRequest("traces", body).pieces(4000))];
  expect(pieces.length).toBeGreaterThan(5);
  const names = pieces.flatMap((piece) => {
    const { columns } = decode("traces", piece);
    if (!("span_id" in columns.rows)) return [];
    const { span_id } = columns.rows;
    return Array.from({ length: columns.length }, (_, row) => span_id.at(row));
  });
  expect(new Set(names).size).toBe(500);
  expect([...new ProtobufRequest("traces", body).pieces(body.length)]).toEqual([body]);
});
