import { describe, expect, it } from "vitest";
import { rowFlags } from "#model/row-flags.ts";
import { decodeAll, logsOf, othersOf, refusalOf } from "./decode-cases.testing.ts";
import { words } from "./messages.ts";

const event = (type: string, payload: object, m: object = { seq: 1, ts: 1703123456789000 }) =>
  JSON.stringify({ v: 1, t: type, m, p: payload });

describe("run_end", () => {
  it("takes completed, failed and killed with error, final metrics and duration [XT-10]", () => {
    const error = { type: "RuntimeError", message: "m", traceback: "t" };
    const payload = { run_id: "r", status: "failed", error, final_metrics: { val_loss: 0.1 }, duration_ms: 5 };
    const payloads = [...words.end.map((status) => ({ ...payload, status })), { run_id: "r", status: "completed" }];
    const { columns } = decodeAll(payloads.map((p) => event("run_end", p)));
    expect(othersOf(columns).map((row) => [JSON.parse(row.payload), row.flags])).toEqual(payloads.map((p) => [p, 0]));
    expect(columns.statuses.map(({ type, status }) => [type, status])).toEqual(
      payloads.map(({ status }) => ["run_end", status]),
    );
  });

  it("accepts a failure without error and notes it; other words are kept and flagged [XT-10]", () => {
    const rows = othersOf(
      decodeAll([
        event("run_end", { run_id: "r", status: "failed" }),
        event("run_end", { run_id: "r", status: "weird-status" }),
      ]).columns,
    );
    expect(rows.map((row) => row.flags)).toEqual([rowFlags.missing_error, rowFlags.unlisted_word]);
  });

  it("names the field that is wrong [XT-24]", () => {
    expect(refusalOf(event("run_end", { run_id: "r" })).detail).toBe("p.status is required and missing");
    expect(refusalOf(event("run_end", { run_id: "r", status: "failed", error: "text" })).detail).toBe(
      "p.error must be an object",
    );
    expect(refusalOf(event("run_end", { run_id: "r", status: "failed", duration_ms: "5" })).detail).toBe(
      "p.duration_ms must be a number",
    );
  });
});

describe("artifact, checkpoint, status, log", () => {
  it("takes the thirteen artifact types, the three upload strategies, size, checksum and meta [XT-14]", () => {
    expect(words.artifact).toHaveLength(13);
    const payloads = words.artifact.flatMap((type) =>
      words.upload.map((upload) => ({
        run_id: "r",
        path: "/m.pt",
        type,
        upload,
        name: "n",
        meta: { a: 1 },
        size: 1234567890,
        checksum: "sha256:ab",
      })),
    );
    const rows = othersOf(decodeAll(payloads.map((p) => event("artifact", p))).columns);
    expect(rows.map((row) => [JSON.parse(row.payload), row.flags])).toEqual(payloads.map((p) => [p, 0]));
    expect(
      othersOf(decodeAll([event("artifact", { run_id: "r", path: "/d", type: "dataset" })]).columns)[0]?.flags,
    ).toBe(rowFlags.unlisted_word);
    expect(refusalOf(event("artifact", { run_id: "r" })).pointer).toBe("/p/path");
    for (const [field, value] of Object.entries({ type: 1, name: 1, meta: 1, size: "1", checksum: 1, upload: 1 })) {
      expect(refusalOf(event("artifact", { run_id: "r", path: "/x", [field]: value })).pointer).toBe(`/p/${field}`);
    }
  });

  it("takes checkpoints with step and path required, and metrics, is_best, best_key and meta [XT-15]", () => {
    const payload = {
      run_id: "r",
      step: 10000,
      epoch: 10,
      path: "/c.pt",
      metrics: { val_loss: 0.1 },
      is_best: true,
      best_key: "val_loss",
      meta: { s: true },
    };
    expect(othersOf(decodeAll([event("checkpoint", payload)]).columns).map((row) => JSON.parse(row.payload))).toEqual([
      payload,
    ]);
    expect(refusalOf(event("checkpoint", { run_id: "r", path: "/c" })).pointer).toBe("/p/step");
    expect(refusalOf(event("checkpoint", { run_id: "r", step: 1 })).pointer).toBe("/p/path");
    for (const [field, value] of Object.entries({
      step: "1",
      epoch: "1",
      metrics: [],
      is_best: 1,
      best_key: 1,
      meta: 1,
    })) {
      expect(refusalOf(event("checkpoint", { run_id: "r", step: 1, path: "/x", [field]: value })).pointer).toBe(
        `/p/${field}`,
      );
    }
    expect(othersOf(decodeAll([event("checkpoint", { run_id: "r", step: 1.5, path: "/c" })]).columns)[0]?.flags).toBe(
      rowFlags.odd_step,
    );
  });

  it("takes the eleven status values, message and progress with cur, total and unit [XT-16]", () => {
    expect(words.status).toHaveLength(11);
    const payloads = words.status.map((status) => ({
      run_id: "r",
      status,
      msg: "Epoch 5/10",
      progress: { cur: 5, total: 10, unit: "epochs" },
    }));
    const { columns } = decodeAll(payloads.map((p) => event("status", p)));
    expect(othersOf(columns).map((row) => [JSON.parse(row.payload), row.flags])).toEqual(payloads.map((p) => [p, 0]));
    expect(columns.statuses.map(({ status }) => status)).toEqual(words.status);
    expect(
      decodeAll([event("status", { run_id: "r", status: "x", progress: { cur: 3, total: null } })]).outcomes,
    ).toEqual(["event"]);
    expect(refusalOf(event("status", { run_id: "r" })).pointer).toBe("/p/status");
    expect(refusalOf(event("status", { run_id: "r", status: "x", progress: { cur: "5" } })).detail).toBe(
      "p.progress.cur must be a number",
    );
  });

  it("takes logs of four levels with logger, step and fields [XT-17]", () => {
    for (const level of words.level) {
      const payload = { run_id: "r", level, msg: "Starting", logger: "train", step: 0, fields: { gpu_count: 4 } };
      expect(logsOf(decodeAll([event("log", payload)]).columns)).toMatchObject([
        { level, msg: "Starting", logger: "train", step: 0n, fields: '{"gpu_count":4}', flags: 0 },
      ]);
    }
    expect(logsOf(decodeAll([event("log", { run_id: "r", level: "custom-level", msg: "" })]).columns)).toMatchObject([
      { level: "custom-level", msg: "", logger: "", step: null, fields: "", flags: rowFlags.unlisted_word },
    ]);
    expect(refusalOf(event("log", { run_id: "r", level: "info" })).pointer).toBe("/p/msg");
    expect(refusalOf(event("log", { run_id: "r", msg: "m" })).pointer).toBe("/p/level");
  });

  it("keeps half a surrogate pair as its escape, and null characters as they are", () => {
    const row = logsOf(
      decodeAll([
        '{"v":1,"t":"log","m":{"seq":1,"ts":5},"p":{"run_id":"r","level":"info","msg":"a\\ud800\\u00e9\\u0000"}}',
      ]).columns,
    )[0];
    expect(row).toMatchObject({ msg: "a\\ud800é\\u0000", flags: rowFlags.escaped_text });
    expect(
      logsOf(decodeAll([event("log", { run_id: "r", level: "info", msg: "a\u0000b\u2028" })]).columns)[0],
    ).toMatchObject({ msg: "a\u0000b\u2028", flags: 0 });
  });
});
