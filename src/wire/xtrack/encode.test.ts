import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encodeEnvelope, encodeFrame, encodePayload } from "./encode.ts";
import { words } from "./messages.ts";
import { gather, join } from "./stream-cases.testing.ts";

const m = { seq: 7, ts: 1703123456789000 };
const textOf = (frame: Uint8Array) => new TextDecoder().decode(frame.subarray(4));

describe("encodeFrame", () => {
  it("writes a big-endian length and compact UTF-8 JSON without a newline [XT-01, XT-26]", () => {
    const frame = encodeFrame("metric", { seq: 1, ts: 1703123456789000 }, { run_id: "abc", key: "loss", value: 0.5 });
    expect([...frame.subarray(0, 4)]).toEqual([0, 0, 0, 0x66]);
    expect(textOf(frame)).toBe(
      '{"v":1,"t":"metric","m":{"seq":1,"ts":1703123456789000},"p":{"run_id":"abc","key":"loss","value":0.5}}',
    );
    const wide = encodeFrame("log", m, { run_id: "é", level: "info", msg: "世界 🚀" });
    expect(new DataView(wide.buffer).getUint32(0)).toBe(wide.length - 4);
    expect(JSON.parse(textOf(wide)).p).toEqual({ run_id: "é", level: "info", msg: "世界 🚀" });
  });

  it("writes the envelope with version, type, metadata and payload, and the worker only when there is one [XT-05, XT-06]", () => {
    expect(JSON.parse(textOf(encodeFrame("status", { ...m, wid: "w0" }, { run_id: "r", status: "training" })))).toEqual(
      {
        v: 1,
        t: "status",
        m: { seq: 7, ts: 1703123456789000, wid: "w0" },
        p: { run_id: "r", status: "training" },
      },
    );
    expect(JSON.parse(textOf(encodeFrame("status", { ...m, wid: "" }, { run_id: "r", status: "training" }))).m).toEqual(
      m,
    );
  });

  it("writes commands of all seven types [XT-18]", () => {
    for (const type of words.command) {
      const frame = encodeFrame("command", m, { cmd_id: "c1", type, payload: { lr: 0.0001 } });
      expect(JSON.parse(textOf(frame))).toEqual({
        v: 1,
        t: "command",
        m,
        p: { cmd_id: "c1", type, payload: { lr: 0.0001 } },
      });
    }
  });

  it("writes acks with the sequence number, ok or error, and the error text [XT-19]", () => {
    expect(JSON.parse(textOf(encodeFrame("ack", m, { seq: 42, status: "ok", error: null }))).p).toEqual({
      seq: 42,
      status: "ok",
      error: null,
    });
    expect(
      JSON.parse(textOf(encodeFrame("ack", m, { seq: 43, status: "error", error: "p.key is missing" }))).p,
    ).toEqual({
      seq: 43,
      status: "error",
      error: "p.key is missing",
    });
  });

  it("leaves out fields that are undefined, also inside ctx", () => {
    const payload = { run_id: "r", key: "k", value: 1, ctx: { phase: "val", agg: undefined } } as never;
    expect(JSON.parse(textOf(encodeFrame("metric", m, payload))).p).toEqual({
      run_id: "r",
      key: "k",
      value: 1,
      ctx: { phase: "val" },
    });
  });

  it("keeps every digit of 64-bit integers and writes non-finite numbers as Python does", () => {
    const payload = { run_id: "r", key: "k", value: Number.NaN, step: 2n ** 60n };
    const text = textOf(encodeFrame("metric", { seq: 2n ** 60n, ts: 5 }, payload));
    expect(text).toContain('"seq":1152921504606846976');
    expect(text).toContain('"value":NaN');
  });

  it("is read back by the framer, whatever the payload", () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue({ maxDepth: 3 }), { maxLength: 5 }), (values) => {
        const stream = join(...values.map((value) => encodeEnvelope({ x: value as never })));
        expect(gather(stream).frames.map((text) => JSON.parse(text))).toEqual(values.map((value) => ({ x: value })));
      }),
      { numRuns: 100 },
    );
  });

  it("puts a length before JSON text that exists already", () => {
    expect(gather(encodePayload(new TextEncoder().encode('{"a": 1}'))).frames).toEqual(['{"a": 1}']);
  });
});
