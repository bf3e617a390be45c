import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { rowFlags } from "#model/row-flags.ts";
import { decodeAll, metricsOf, othersOf, refusalOf } from "./decode-cases.testing.ts";
import { frameOf } from "./stream-cases.testing.ts";

const event = (type: string, payload: object, m: object = { seq: 1, ts: 1703123456789000 }) =>
  JSON.stringify({ v: 1, t: type, m, p: payload });

describe("envelope", () => {
  const good = { v: 1, t: "metric", m: { seq: 1, ts: 5 }, p: { run_id: "r", key: "k", value: 1 } };

  it("asks for v, t, m and p and names the one that is missing or of the wrong type [XT-05, XT-24]", () => {
    for (const field of ["v", "t", "m", "p"] as const) {
      const { [field]: _, ...rest } = good;
      expect(refusalOf(JSON.stringify(rest))).toMatchObject({ code: "xtrack_missing_field", pointer: `/${field}` });
    }
    for (const [field, value] of Object.entries({ v: "1", t: 5, m: [], p: "x" })) {
      const refusal = refusalOf(JSON.stringify({ ...good, [field]: value }));
      expect(refusal).toMatchObject({ code: "xtrack_invalid_field", pointer: `/${field}` });
      expect(refusal.detail).toMatch(new RegExp(`^${field} must be `));
    }
    expect(refusalOf("[1]")).toMatchObject({
      code: "xtrack_invalid_field",
      detail: "the payload must be a JSON object",
    });
  });

  it("refuses another protocol version with a clear message [XT-22]", () => {
    expect(refusalOf(JSON.stringify({ ...good, v: 2 }))).toMatchObject({
      code: "xtrack_version",
      detail: "v is 2; this collector reads protocol version 1",
      seq: 1,
      run: "r",
    });
  });

  it("asks for m.seq and m.ts in microseconds and takes m.wid [XT-06]", () => {
    expect(refusalOf(event("metric", good.p, { ts: 5 }))).toMatchObject({
      pointer: "/m/seq",
      detail: "m.seq is required and missing",
    });
    expect(refusalOf(event("metric", good.p, { seq: 1 }))).toMatchObject({ pointer: "/m/ts" });
    for (const bad of [-1, 1.5, "1", null]) {
      expect(refusalOf(event("metric", good.p, { seq: bad, ts: 5 }))).toMatchObject({ pointer: "/m/seq" });
      expect(refusalOf(event("metric", good.p, { seq: 1, ts: bad }))).toMatchObject({ pointer: "/m/ts" });
    }
    const { columns } = decodeAll([event("metric", good.p, { seq: 42, ts: 1703123456789001, wid: "worker-0" })]);
    expect([columns.seq.at(0), columns.tsNs.at(0), columns.worker.at(0)]).toEqual([
      42n,
      1703123456789001000n,
      "worker-0",
    ]);
  });

  it("reads sequence numbers beyond 2^53 exactly", () => {
    const text =
      '{"v":1,"t":"metric","m":{"seq":9223372036854775807,"ts":9007199254740991},"p":{"run_id":"r","key":"k","value":1}}';
    const { columns } = decodeAll([text]);
    expect([columns.seq.at(0), columns.tsNs.at(0)]).toEqual([2n ** 63n - 1n, 9007199254740991000n]);
  });

  it("tells text that is not JSON from an event that is refused [XT-23]", () => {
    expect(decodeAll(['{"v":1', '{"v":1}', '{"v":1,\u0000}', '"x"']).outcomes).toEqual([
      "not_json",
      "refused",
      "not_json",
      "refused",
    ]);
  });

  it("keeps unknown fields of envelope, metadata and payload [XT-20]", () => {
    const text =
      '{"v":1,"t":"metric","m":{"seq":1,"ts":5,"host":"a"},"p":{"run_id":"r","key":"k","value":1,"unit":"s"},"flags":["x"]}';
    expect(metricsOf(decodeAll([text]).columns)[0]?.extra).toBe(
      '{"envelope":{"flags":["x"]},"m":{"host":"a"},"p":{"unit":"s"}}',
    );
  });

  it("stores unknown event types and does not call them errors [XT-21]", () => {
    const { columns, outcomes } = decodeAll([event("heartbeat", { run_id: "r", load: 0.5 })]);
    expect(outcomes).toEqual(["event"]);
    expect(othersOf(columns)).toMatchObject([
      { type: "heartbeat", payload: '{"run_id":"r","load":0.5}', flags: rowFlags.unknown_type },
    ]);
  });
});

describe("run_start", () => {
  it("takes the id as an object, a string or a number, and keeps name, tags, source and env whatever they are [XT-09]", () => {
    const payloads = [
      {
        run_id: { id: "a", exp_id: "e", parent_id: "b" },
        name: "n",
        tags: { k: "v" },
        source: { git_commit: "c" },
        env: { gpu_info: [] },
      },
      { run_id: "a" },
      { run_id: 12345, name: 5, tags: [] },
    ];
    const { columns, outcomes } = decodeAll(payloads.map((payload) => event("run_start", payload)));
    expect(outcomes).toEqual(["event", "event", "event"]);
    expect([0, 1, 2].map((i) => columns.run.at(i))).toEqual(["a", "a", "12345"]);
    expect(othersOf(columns).map((row) => JSON.parse(row.payload))).toEqual(payloads);
  });

  it("generates a missing or empty id from the frame, and events without id follow it [XT-09]", () => {
    for (const runId of ['{"id":"","exp_id":null}', '""', "null", '{"exp_id":"e"}']) {
      const start = `{"v":1,"t":"run_start","m":{"seq":1,"ts":5},"p":{"run_id":${runId}}}`;
      const id = `x-${createHash("sha256").update(frameOf(start)).digest("hex").slice(0, 16)}`;
      const metric = '{"v":1,"t":"metric","m":{"seq":2,"ts":6},"p":{"run_id":"","key":"k","value":1}}';
      const { columns } = decodeAll([start, metric, metric.replace('"run_id":"",', "")]);
      expect([0, 1, 2].map((i) => columns.run.at(i))).toEqual([id, id, id]);
      expect(columns.starts).toMatchObject([{ run: id, generated: true }]);
    }
  });

  it("refuses an event without id when the stream has not started a run", () => {
    expect(refusalOf(event("metric", { key: "k", value: 1 }))).toMatchObject({
      code: "xtrack_missing_field",
      pointer: "/p/run_id",
    });
    expect(refusalOf(event("metric", { run_id: [1], key: "k", value: 1 }))).toMatchObject({
      code: "xtrack_invalid_field",
      pointer: "/p/run_id",
    });
  });

  it("says what the connection reads", () => {
    const { columns } = decodeAll([
      event("run_start", { run_id: "r", accepts: ["ack", "command", 5] }),
      event("run_start", { run_id: "s" }),
    ]);
    expect(columns.starts.map((start) => start.accepts)).toEqual([["ack", "command"], []]);
  });
});

describe("frames that are no events of a run", () => {
  it("reads acks and commands that come from a worker [XT-18, XT-19]", () => {
    const { columns } = decodeAll([
      event("ack", { seq: 3, status: "ok", cmd_id: "c1" }),
      event("run_start", { run_id: "r" }),
      event("ack", { seq: 4, status: "error", error: "no", cmd_id: "c2" }),
      event("command", { cmd_id: "c3", type: "custom", payload: {} }),
    ]);
    expect(columns.control).toEqual([
      { event: 0, run: "", worker: "", type: "ack", payload: { seq: 3, status: "ok", cmd_id: "c1" } },
      { event: 2, run: "r", worker: "", type: "ack", payload: { seq: 4, status: "error", error: "no", cmd_id: "c2" } },
      { event: 3, run: "r", worker: "", type: "command", payload: { cmd_id: "c3", type: "custom", payload: {} } },
    ]);
    expect(refusalOf(event("ack", { seq: "x", status: "ok" })).pointer).toBe("/p/seq");
    expect(refusalOf(event("command", { type: "pause" })).pointer).toBe("/p/cmd_id");
  });

  it("reads an auth frame, which needs no metadata, and stores nothing of it", () => {
    const { columns, outcomes, decoder } = decodeAll(['{"v":1,"t":"auth","m":{},"p":{"key":"secret"}}']);
    expect([outcomes, decoder.authKey, columns.length]).toEqual([["auth"], "secret", 0]);
    expect(refusalOf('{"v":1,"t":"auth","m":{},"p":{}}')).toMatchObject({ pointer: "/p/key" });
  });
});
