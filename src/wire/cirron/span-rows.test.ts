import { describe, expect, test } from "vitest";
import { atOnce } from "#base/turns.ts";
import { rowFlags } from "#model/row-flags.ts";
import { formatRecord, type RecordCells } from "./rebuild.ts";
import { readIndependently, span, spanCells, type Tree } from "./small-records.testing.ts";

describe("a span", () => {
  test("gets the document's defaults for what it leaves out [CT-06] [CT-39]", () => {
    expect(spanCells("")).toMatchObject({
      span_id: "s1",
      parent_id: null,
      index: null,
      cpu_ns: null,
      gpu_ns: null,
      memory_peak_bytes: null,
      thread_id: null,
      pid: null,
      rank: 0,
      attrs: "{}",
      mark_ids: "[]",
      flags: 0,
      extra: "",
      raw: "",
    });
  });

  test.each([
    ['"name":7', { name: "7", extra: '{"name":7}' }],
    ['"name":null', { name: "", extra: '{"name":null}' }],
    ['"name":""', { name: "", extra: "" }],
    ['"name":{"a":1}', { name: "", extra: '{"name":{"a":1}}' }],
    ['"index":"idx-as-string"', { index: null, extra: '{"index":"idx-as-string"}' }],
    ['"index":1.5', { index: null, extra: '{"index":1.5}' }],
    ['"index":1180591620717411303424', { index: null, extra: '{"index":1180591620717411303424}' }],
    ['"index":-0', { index: null, extra: '{"index":-0}' }],
    ['"index":NaN', { index: null, extra: '{"index":"NaN"}', raw: span(',"index":NaN') }],
    ['"rank":null', { rank: 0, extra: '{"rank":null}' }],
    ['"rank":2147483648', { rank: 0, extra: '{"rank":2147483648}' }],
    ['"rank":-1', { rank: -1, extra: "" }],
    ['"pid":true', { pid: null, extra: '{"pid":true}' }],
    ['"parent_id":5', { parent_id: null, extra: '{"parent_id":5}' }],
    ['"attrs":null', { attrs: "", extra: "" }],
    ['"attrs":[ 1 ]', { attrs: "[1]", extra: "" }],
    ['"attrs":{"x":NaN}', { attrs: '{"x":"NaN"}', raw: span(',"attrs":{"x":NaN}') }],
    ['"attrs":{"1":"true","1":"str"}', { attrs: '{"1":"str"}', raw: span(',"attrs":{"1":"true","1":"str"}') }],
    ['"attrs":{"lone":"\\ud83d"}', { attrs: '{"lone":"\\ud83d"}', raw: "", flags: 0 }],
    [
      '"name":"a\\ud83d\\n","parent_id":"p\\\\"',
      { name: "a\\ud83d\\n", parent_id: "p\\\\", flags: rowFlags.escaped_text },
    ],
    ['"name":"a\\u0000\\u2028é"', { name: "a\0\u2028é", flags: 0 }],
  ])("with %s keeps all of it", (fields, expected) => {
    const text = span(`,${fields}`);
    expect(spanCells(`,${fields}`)).toMatchObject(expected);
    const cells = spanCells(`,${fields}`) as unknown as RecordCells<"span">;
    expect(readIndependently(atOnce(formatRecord("span", cells)).join(""))).toMatchObject(
      readIndependently(text) as Tree,
    );
  });

  test("lists its marks [CT-07]", () => {
    expect(spanCells(',"mark_ids":["m1","m2"]')["mark_ids"]).toBe('["m1","m2"]');
  });
});
