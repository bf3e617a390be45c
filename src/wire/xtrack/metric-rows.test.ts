import { describe, expect, it } from "vitest";
import { rowFlags } from "#model/row-flags.ts";
import { decodeAll, metricsOf, othersOf, paramsOf, refusalOf } from "./decode-cases.testing.ts";
import { words } from "./messages.ts";

const event = (type: string, payload: object, m: object = { seq: 1, ts: 1703123456789000 }) =>
  JSON.stringify({ v: 1, t: type, m, p: payload });
const oneMetric = (fields: string) =>
  metricsOf(decodeAll([`{"v":1,"t":"metric","m":{"seq":1,"ts":5},"p":{"run_id":"r","key":"k",${fields}}}`]).columns)[0];

describe("param", () => {
  it("takes any JSON value and flattens the nested key to a dotted name [XT-11]", () => {
    const values = [0.001, "adam", true, null, [0.9, { a: 1 }], { b: [] }];
    const { columns } = decodeAll([
      ...values.map((value) => event("param", { run_id: "r", key: "k", value })),
      event("param", { run_id: "r", key: "optimizer", value: "adam", nested_key: ["type"] }),
      event("param", { run_id: "r", key: "optimizer", value: 0.001, nested_key: ["a", "b.c", 3] }),
    ]);
    const rows = paramsOf(columns);
    expect(rows.slice(0, 6).map((row) => JSON.parse(row.value))).toEqual(values);
    expect(rows.map((row) => row.value_num)).toEqual([0.001, null, null, null, null, null, null, 0.001]);
    expect(rows.slice(6).map(({ name, key, nested_key }) => [name, key, nested_key])).toEqual([
      ["optimizer.type", "optimizer", '["type"]'],
      ["optimizer.a.b.c.3", "optimizer", '["a","b.c",3]'],
    ]);
  });

  it("names the field that is missing or wrong [XT-24]", () => {
    expect(refusalOf(event("param", { run_id: "r", value: 1 })).pointer).toBe("/p/key");
    expect(refusalOf(event("param", { run_id: "r", key: "k" })).pointer).toBe("/p/value");
    expect(refusalOf(event("param", { run_id: "r", key: 5, value: 1 })).detail).toBe("p.key must be a string");
    for (const nested of ["a", [{}], {}]) {
      expect(refusalOf(event("param", { run_id: "r", key: "k", value: 1, nested_key: nested })).pointer).toBe(
        "/p/nested_key",
      );
    }
  });
});

describe("metric", () => {
  it("takes value, step, epoch and the context with phase, batch_size, dataset_size and agg [XT-12]", () => {
    for (const phase of words.phase) {
      for (const agg of words.agg) {
        const ctx = { phase, batch_size: 32, dataset_size: 50000, agg };
        const { columns } = decodeAll([
          event("metric", { run_id: "r", key: "loss", value: 0.5, step: 1000, epoch: 5, ctx }),
        ]);
        expect(metricsOf(columns)).toMatchObject([
          {
            key: "loss",
            value: 0.5,
            step: 1000n,
            epoch: 5n,
            phase,
            ctx: `{"batch_size":32,"dataset_size":50000,"agg":"${agg}"}`,
            entry: -1,
            flags: 0,
            raw: "",
          },
        ]);
      }
    }
    expect(oneMetric('"value":1,"ctx":{"phase":"warmup"}')).toMatchObject({
      phase: "warmup",
      flags: rowFlags.unlisted_word,
      ctx: "",
    });
  });

  it("keeps every double exactly and the literal where a double is not it", () => {
    const exact = {
      "0.1": 0.1,
      "-0.0": -0,
      "5e-324": 5e-324,
      "1e+22": 1e22,
      "1.7976931348623157e+308": Number.MAX_VALUE,
      "4.808555603027344": 4.808555603027344,
      "1180591620717411303424": 2 ** 70,
      NaN: Number.NaN,
      "-Infinity": -Infinity,
    };
    for (const [literal, value] of Object.entries(exact)) {
      expect(oneMetric(`"value":${literal}`), literal).toMatchObject({ value, value_text: "", flags: 0 });
    }
    const inexact = {
      "9007199254740993": 9007199254740992,
      "1e400": Number.POSITIVE_INFINITY,
      "1e-400": 0,
      "0.12345678901234567890123": 0.12345678901234568,
      "9007199254740993.0": 9007199254740992,
    };
    for (const [literal, value] of Object.entries(inexact)) {
      expect(oneMetric(`"value":${literal}`), literal).toMatchObject({
        value,
        value_text: literal,
        flags: rowFlags.odd_value,
      });
    }
  });

  it("makes a flagged row, not a fault, of a value that is no number and of an odd step", () => {
    for (const literal of ["true", '"0.5"', "null", '{"mean":1}', "[1]", '"NaN"']) {
      expect(oneMetric(`"value":${literal}`), literal).toMatchObject({
        value: null,
        value_text: literal,
        flags: rowFlags.odd_value,
      });
    }
    for (const literal of ["1.5", '"5"', "1180591620717411303424", "NaN"]) {
      expect(oneMetric(`"value":1,"step":${literal}`), literal).toMatchObject({
        step: null,
        step_text: literal,
        flags: rowFlags.odd_step,
      });
    }
    expect(oneMetric('"value":1,"step":1152921504606846976,"epoch":-1')).toMatchObject({
      step: 2n ** 60n,
      epoch: -1n,
      flags: 0,
    });
    expect(oneMetric('"value":1,"step":5.0')).toMatchObject({ step: 5n, step_text: "5.0", flags: rowFlags.odd_step });
    expect(oneMetric('"value":1,"epoch":0.5')).toMatchObject({
      epoch: null,
      extra: '{"p":{"epoch":0.5}}',
      flags: rowFlags.odd_step,
    });
  });

  it("names the field that is missing or wrong [XT-24]", () => {
    expect(refusalOf(event("metric", { run_id: "r", value: 1 })).pointer).toBe("/p/key");
    expect(refusalOf(event("metric", { run_id: "r", key: "k" })).pointer).toBe("/p/value");
    expect(refusalOf(event("metric", { run_id: "r", key: "k", value: 1, ctx: "train" })).pointer).toBe("/p/ctx");
  });
});

describe("metric_batch", () => {
  it("makes one row per metric, all with the step and epoch of the batch [XT-13]", () => {
    const { columns } = decodeAll([
      event("metric_batch", {
        run_id: "r",
        step: 1000,
        epoch: 5,
        metrics: { loss: 0.5, accuracy: 0.85, lr: true },
        ctx: { phase: "train" },
      }),
    ]);
    expect(
      metricsOf(columns).map(({ key, value, value_text, step, epoch, phase, entry }) => [
        key,
        value,
        value_text,
        step,
        epoch,
        phase,
        entry,
      ]),
    ).toEqual([
      ["loss", 0.5, "", 1000n, 5n, "train", 0],
      ["accuracy", 0.85, "", 1000n, 5n, "train", 1],
      ["lr", null, "true", 1000n, 5n, "train", 2],
    ]);
  });

  it("is taken whole or not at all [XT-13]", () => {
    const { columns, outcomes } = decodeAll([
      event("metric_batch", { run_id: "r", metrics: { a: 1 }, ctx: [] }),
      event("metric_batch", { run_id: "r", metrics: [1] }),
    ]);
    expect(outcomes).toEqual(["refused", "refused"]);
    expect([columns.length, columns.metrics.event.length]).toEqual([0, 0]);
  });

  it("keeps a batch without metrics as an event", () => {
    const { columns } = decodeAll([event("metric_batch", { run_id: "r", metrics: {} })]);
    expect(othersOf(columns)).toMatchObject([{ type: "metric_batch", payload: '{"run_id":"r","metrics":{}}' }]);
  });
});
