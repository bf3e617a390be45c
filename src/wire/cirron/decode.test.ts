import { globSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { countPauses } from "#base/turns.testing.ts";
import { type Fault, faultKinds } from "#model/fault.ts";
import { decodeBatch, decodeBatchInSteps } from "./decode.ts";
import {
  batchOf,
  decoded,
  mark,
  readIndependently,
  rebuilt,
  refused,
  snapshot,
  span,
  spanCells,
  type Tree,
} from "./small-records.testing.ts";

describe("a batch", () => {
  test("may have its keys in any order, blanks between them and unknown keys, which are kept [CT-24]", () => {
    const batch = decoded(
      ` { "marks" : [ ] , "new" : { "a" : NaN , "a" : 1.0 } , "spans":[ ${span()} ],"batch_id":"b1", "schema_version" : 1 } `,
    );
    expect(batch.extra).toBe('{"new":{"a":1.0}}');
    expect([batch.spans.span_id.length, batch.createdNs, batch.sdkVersion]).toStrictEqual([1, 0n, ""]);
  });

  test("keeps unknown and odd fields of a record [CT-24]", () => {
    const cells = spanCells(',"later":{"x":[1.0, 2]},"index":"i"');
    expect(cells["extra"]).toBe('{"index":"i","later":{"x":[1.0,2]}}');
    expect(cells["raw"]).toBe("");
  });

  test("counts the last of two equal keys", () => {
    const batch = decoded(batchOf(`,"spans":[${span()},5],"spans":[],"batch_id":"b2"`));
    expect([batch.batchId, batch.spans.span_id.length, batch.faults.length]).toStrictEqual(["b2", 0, 0]);
    const cells = spanCells(',"id":"s2","x":1,"x":2');
    expect([cells["span_id"], cells["extra"]]).toStrictEqual(["s2", '{"x":2}']);
    expect(cells["raw"]).toBe(span(',"id":"s2","x":1,"x":2'));
  });

  test("knows its own keys also when they are written with escapes", () => {
    const batch = decoded(
      `{"\\u0062atch_id":"b1","schema_version":1,"sp\\u0061ns":[{"i\\u0064":"s1","start_ns":1,"end_ns":2}]}`,
    );
    expect(batch.spans.span_id.at(0)).toBe("s1");
  });

  test("with odd header values keeps them beside the rows", () => {
    const batch = decoded(
      '{"schema_version":1,"batch_id":"b","created_ns":"now","sdk_version":null,"marks":null,"spans":[]}',
    );
    expect(batch.extra).toBe('{"created_ns":"now","sdk_version":null,"marks":null}');
    expect(batch.createdNs).toBe(0n);
  });
});

describe("refuses the whole message", () => {
  test.each([
    ["", "json_syntax"],
    ["hello", "json_syntax"],
    ['{"schema_version":1,"batch_id":"b","spans":[{]}', "json_syntax"],
    ['{"schema_version":1,"batch_id":"b","spans":[]} x', "json_syntax"],
    [`${'{"a":'.repeat(600)}1${"}".repeat(600)}`, "json_too_deep"],
    ["[]", "cirron_not_batch"],
    ["null", "cirron_not_batch"],
    ["{}", "cirron_not_batch"],
    ['{"schema_version":1,"spans":[]}', "cirron_not_batch"],
    ['{"schema_version":1,"batch_id":"","spans":[]}', "cirron_not_batch"],
    ['{"schema_version":1,"batch_id":7,"spans":[]}', "cirron_not_batch"],
    ['{"schema_version":1,"batch_id":"b"}', "cirron_not_batch"],
    ['{"resourceSpans":[{"scopeSpans":[]}]}', "cirron_otlp"],
  ])("%s as %s", (text, code) => {
    const refusal = refused(text);
    expect(refusal.code).toBe(code);
    expect(faultKinds[refusal.code].blast).toBe("message");
    expect(new TextDecoder().decode(refusal.raw)).toBe(text);
  });

  test.each([
    ['"schema_version":2,', "`schema_version` must be 1, found 2"],
    ['"schema_version":"1",', '`schema_version` must be 1, found "1"'],
    ["", "`schema_version` must be 1, it is missing"],
  ])("with %s naming the version it found [CT-25]", (version, detail) => {
    for (const text of [
      `{${version}"batch_id":"b","spans":[5]}`,
      `{"batch_id":"b","spans":[5],${version}"marks":[]}`,
    ]) {
      expect(refused(text)).toMatchObject({ code: "cirron_schema_version", detail });
    }
  });

  test("when it is larger than the limit", () => {
    const result = decodeBatch(new TextEncoder().encode(batchOf(',"spans":[]')), { depthMax: 10, bytesMax: 20 });
    expect(result).toMatchObject({ ok: false, refusal: { code: "json_too_large" } });
  });
});

describe("one bad record", () => {
  test("that is nested too deep is a fault, and its neighbours become rows", () => {
    const deep = `${"[".repeat(30_000)}"]}\\""${"]".repeat(30_000)}`;
    const spans = ["a", "b", "c"].map(
      (id) => `{"id":"${id}","start_ns":1,"end_ns":2,"attrs":{"x":${id === "b" ? deep : 1}}}`,
    );
    const marks = `{"id":"m","span_id":"a","x":${deep},"ts_ns":1},{"id":"n","span_id":"a","name":"n","value_type":"int","value":1,"ts_ns":1}`;
    const batch = decoded(batchOf(`,"spans":[${spans.join()}],"marks":[${marks}],"more":[1]`));
    expect([batch.spans.span_id.length, batch.spans.span_id.at(0), batch.spans.span_id.at(1)]).toEqual([2, "a", "c"]);
    expect([batch.marks.mark_id.length, batch.marks.mark_id.at(0)]).toEqual([1, "n"]);
    expect(batch.extra).toBe('{"more":[1]}');
    expect(batch.faults.map(({ code, place }) => [code, place["pointer"]])).toEqual([
      ["cirron_record", "/spans/1"],
      ["cirron_record", "/marks/0"],
    ]);
    expect(batch.faults[0]?.detail).toBe("/spans/1 is nested deeper than 512 levels");
    expect(new TextDecoder().decode(batch.faults[0]?.raw)).toBe(spans[1]);
  });

  test.each([
    ['{"name":"x","start_ns":1,"end_ns":2}', "/spans/1/id", "it is missing"],
    ['{"id":7,"start_ns":1,"end_ns":2}', "/spans/1/id", "found 7"],
    ['{"id":"","start_ns":1,"end_ns":2}', "/spans/1/id", 'found ""'],
    ['{"id":"a","end_ns":2}', "/spans/1/start_ns", "it is missing"],
    ['{"id":"a","start_ns":1.5,"end_ns":2}', "/spans/1/start_ns", "found 1.5"],
    ['{"id":"a","start_ns":1,"end_ns":null}', "/spans/1/end_ns", "found null"],
    ['{"id":"a","start_ns":1,"end_ns":9223372036854775808}', "/spans/1/end_ns", "found 9223372036854775808"],
    ['{"id":"a","start_ns":NaN,"end_ns":2}', "/spans/1/start_ns", "found NaN"],
    ["null", "/spans/1", "must be an object"],
    ['["s"]', "/spans/1", "must be an object"],
  ])("%s is a fault with its place and its bytes, and its neighbours are rows", (record, pointer, reason) => {
    const text = batchOf(`,"spans":[${span()},${record},${span(',"rank":3')}]`);
    const batch = decoded(text);
    expect(batch.spans.rank.length).toBe(2);
    expect(batch.spans.rank.at(1)).toBe(3);
    for (const column of Object.values(batch.spans)) expect([0, 2]).toContain(column.length);
    const [fault] = batch.faults as [Fault];
    expect(batch.faults.length).toBe(1);
    expect(fault).toMatchObject({ code: "cirron_record", place: { pointer, offset: text.indexOf(record) } });
    expect(fault.detail).toContain(reason);
    expect(new TextDecoder().decode(fault.raw)).toBe(record);
  });

  test("of another kind is one too", () => {
    const text = batchOf(`,"marks":[{"id":"m"},${mark()}],"snapshots":[${snapshot()},{"ts_ns":1}],"spans":{"id":1}`);
    const batch = decoded(text);
    expect([batch.marks.mark_id.length, batch.snapshots.snapshot_id.length]).toStrictEqual([1, 1]);
    expect(batch.faults.map((fault) => fault.place.pointer)).toStrictEqual([
      "/spans",
      "/marks/0/ts_ns",
      "/snapshots/1/id",
    ]);
  });
});

test("a batch of few large records is read with pauses, as the same rows", () => {
  const large = Array.from({ length: 40 }, (_, at) => span(`,"attrs":{"text":"${String(at).repeat(50_000)}"}`));
  const bytes = new TextEncoder().encode(batchOf(`,"spans":[${large.join(",")}]`));
  const { value, pauses } = countPauses(decodeBatchInSteps(bytes));
  expect(pauses).toBeGreaterThanOrEqual(Math.floor(bytes.length / (400 * 1024)));
  expect(value.ok && value.batch.spans.attrs.byteLength).toBe(
    decoded(batchOf(`,"spans":[${large.join(",")}]`)).spans.attrs.byteLength,
  );
});

describe("one record of many values", () => {
  const close = Array.from({ length: 300_000 }, (_, i) => i / 4).join(",");
  const spaced = close.replaceAll(",", ", ");
  const shortened = (text: string) => text.replace(close, "0").replace(spaced, "0");
  const neighbours = (record: string) => batchOf(`,"spans":[${span()},${record},${span(',"attrs":{"last":1}')}]`);

  test.each([
    ["a list", `,"attrs":{"l":[${close}]}`],
    ["a list with blanks", `,"attrs":{"l": [${spaced}]}`],
    ["numbers that are none", `,"attrs":{"l":[NaN, ${close}]}`],
    ["a field that is unknown", `,"novel":[${spaced}]`],
    ["a text behind a list", `,"attrs":{"l":[${close}],"t":"${"x".repeat(2 << 20)}"}`],
  ])("is read with pauses, as the same row: %s", (_, more) => {
    const record = span(more);
    const { value, pauses } = countPauses(decodeBatchInSteps(new TextEncoder().encode(neighbours(record))));
    if (!value.ok) throw new Error(value.refusal.detail);
    const small = decoded(batchOf(`,"spans":[${span()},${span(shortened(more))}]`));
    const { spans } = value.batch;
    expect([spans.span_id.length, value.batch.faults]).toEqual([3, []]);
    for (const column of ["attrs", "extra", "raw"] as const)
      expect(shortened(spans[column].at(1))).toBe(small.spans[column].at(1));
    expect(spans.attrs.at(2)).toBe('{"last":1}');
    // In steps of some thousand values each.
    expect(pauses).toBeGreaterThan(300_000 / 4096);
  });

  test("has fields that nobody knows, many of them, and they are kept with pauses", () => {
    const members = Array.from({ length: 100_000 }, (_, i) => `"k${i}": ${i}`);
    const record = span(`,${members.join(",")},"k7":"last","index":3`);
    const { value, pauses } = countPauses(decodeBatchInSteps(new TextEncoder().encode(neighbours(record))));
    if (!value.ok) throw new Error(value.refusal.detail);
    const { spans, faults } = value.batch;
    expect([spans.span_id.length, spans.index.inner.at(1), faults]).toEqual([3, 3n, []]);
    const expected = members.with(7, '"k7":"last"').join(",").replaceAll(": ", ":");
    expect(spans.extra.at(1)).toBe(`{${expected}}`);
    expect(spans.raw.at(1)).toBe(record);
    expect(pauses).toBeGreaterThan(100_000 / 2048);
  });

  test("is a tensor with a histogram of many bins, which become numbers with pauses", () => {
    const bins = Array.from({ length: 300_000 }, (_, i) => i / 4);
    const stats = `{"mean":1.5,"std":2.5,"min":0.5,"max":9.5,"norm":4.5,"histogram":{"bins":[${bins.join(",")}],"counts":[7]}}`;
    const rows = (text: string) => `,"snapshots":[${snapshot()},${snapshot(`,"stats":${text}`)},${snapshot()}]`;
    const { value, pauses } = countPauses(decodeBatchInSteps(new TextEncoder().encode(batchOf(rows(stats)))));
    if (!value.ok) throw new Error(value.refusal.detail);
    const { snapshots } = value.batch;
    expect(snapshots.stats.at(1)).toBe(stats);
    const numbers = [snapshots.mean, snapshots.std, snapshots.min, snapshots.max, snapshots.norm];
    expect(numbers.map((column) => column.inner.at(1))).toEqual([1.5, 2.5, 0.5, 9.5, 4.5]);
    expect([snapshots.bins.ends.at(0), snapshots.bins.ends.at(1), snapshots.bins.ends.at(2)]).toEqual([
      0, 300_000, 300_000,
    ]);
    expect(Array.from(snapshots.bins.items.values.subarray(0, 300_000))).toEqual(bins);
    expect([snapshots.counts.length, snapshots.counts.items.length]).toEqual([3, 1]);
    expect(pauses).toBeGreaterThan((2 * 300_000) / 4096);
  });

  test("is a fault with its neighbours unharmed when it is no record, and so is one nested too deep", () => {
    const list = `[${close}]`;
    const deep = `{"id":"d","attrs":{"l":${list},"deep":${"[".repeat(600)}${"]".repeat(600)}}}`;
    const text = batchOf(`,"spans":[${span()},${list},${deep},${span()}]`);
    const { value, pauses } = countPauses(decodeBatchInSteps(new TextEncoder().encode(text)));
    if (!value.ok) throw new Error(value.refusal.detail);
    expect(value.batch.spans.span_id.length).toBe(2);
    expect(value.batch.faults.map(({ code, raw }) => [code, raw.length])).toEqual([
      ["cirron_record", list.length],
      ["cirron_record", deep.length],
    ]);
    expect(pauses).toBeGreaterThan(300_000 / 4096);
  });

  test("is passed with pauses where it says nothing to a batch", () => {
    const text = batchOf(`,"novel":[${close}],"spans":[${span()}]`);
    const { value, pauses } = countPauses(decodeBatchInSteps(new TextEncoder().encode(text)));
    expect(value.ok && value.batch.extra).toBe(`{"novel":[${close}]}`);
    expect(pauses).toBeGreaterThan(300_000 / 4096);
  });
});

describe("any bytes", () => {
  const sample = readFileSync(globSync("tests/fixtures/cirron/marks/.cirron/spool/*.json").sort()[1] as string);

  test("never make it throw when the text is cut anywhere", () => {
    const step = 7;
    for (let end = 0; end < sample.length; end += step) expect(decodeBatch(sample.subarray(0, end)).ok).toBe(false);
    const small = new TextEncoder().encode(
      batchOf(`,"spans":[${span()}],"marks":[${mark()}],"snapshots":[${snapshot()}]`),
    );
    for (let end = 0; end < small.length; end++) expect(decodeBatch(small.subarray(0, end)).ok).toBe(false);
  });

  test("never make it throw or lose step when a byte is changed", () => {
    fc.assert(
      fc.property(fc.nat(sample.length - 1), fc.nat(255), (at, value) => {
        const bytes = Uint8Array.from(sample);
        bytes[at] = value;
        const result = decodeBatch(bytes);
        if (!result.ok) return;
        const { spans, marks } = result.batch;
        for (const column of [...Object.values(spans)]) expect([0, spans.flags.length]).toContain(column.length);
        for (const column of [...Object.values(marks)]) expect([0, marks.flags.length]).toContain(column.length);
      }),
      { numRuns: 2000 },
    );
  });

  test("never make it throw when they are garbage", () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => void decodeBatch(bytes)));
  });

  test("of records with any JSON in any field are rebuilt equal", () => {
    const leaf = fc.constantFrom(
      "1",
      "-0",
      "1.0",
      "NaN",
      "-Infinity",
      '"x"',
      '""',
      '"\\ud83d"',
      '"a\\\\b"',
      "null",
      "true",
      "[]",
      "{}",
      "18446744073709551616",
      '{"a":1,"a":[NaN]}',
      "[1, 2]",
    );
    const field = fc.constantFrom(
      "id",
      "name",
      "parent_id",
      "index",
      "start_ns",
      "end_ns",
      "rank",
      "pid",
      "attrs",
      "mark_ids",
      "new",
    );
    const fields = fc.array(fc.tuple(field, leaf), { maxLength: 8 });
    fc.assert(
      fc.property(fields, (all) => {
        const text = span(all.map(([name, value]) => `,"${name}":${value}`).join(""));
        const batch = decoded(batchOf(`,"spans":[${text}]`));
        const sent = readIndependently(text) as Tree;
        if (batch.faults.length === 1) {
          expect(new TextDecoder().decode(batch.faults[0]?.raw)).toBe(text);
          return;
        }
        expect(rebuilt(batch).spans[0]).toMatchObject(sent);
      }),
      { numRuns: 3000 },
    );
  });
});
