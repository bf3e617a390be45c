import { describe, expect, test } from "vitest";
import { snapshot, snapshotCells } from "./small-records.testing.ts";

describe("a snapshot", () => {
  test("is stats without a blob by default [CT-14]", () => {
    expect(snapshotCells("")).toMatchObject({
      mode: "stats",
      blob_uri: null,
      stats: "",
      bins: [],
      counts: [],
      shape: "[]",
      flags: 0,
    });
  });

  test("keeps mode and blob of sampled and full ones, and its tensor's name verbatim [CT-15] [CT-16] [CT-17] [CT-18]", () => {
    for (const mode of ["sampled", "full"]) {
      const cells = snapshotCells(
        `,"mode":"${mode}","blob_uri":"file:///x/gradients.safetensors","tensor_name":"fc1.weight.grad"`,
      );
      expect(cells).toMatchObject({
        mode,
        blob_uri: "file:///x/gradients.safetensors",
        tensor_name: "fc1.weight.grad",
        flags: 0,
      });
    }
  });

  test("with NaN in its statistics has NaN in its columns and its exact text in raw", () => {
    const stats =
      '"stats":{"mean":NaN,"std":Infinity,"min":-Infinity,"max":1,"norm":2.5,"histogram":{"bins":[NaN,1.5],"counts":[3]}}';
    const cells = snapshotCells(`,${stats}`);
    expect(cells).toMatchObject({
      mean: Number.NaN,
      std: Infinity,
      min: -Infinity,
      max: 1,
      norm: 2.5,
      bins: [Number.NaN, 1.5],
      counts: [3],
    });
    expect(cells["stats"]).toBe(
      '{"mean":"NaN","std":"Infinity","min":"-Infinity","max":1,"norm":2.5,"histogram":{"bins":["NaN",1.5],"counts":[3]}}',
    );
    expect(cells["raw"]).toBe(snapshot(`,${stats}`));
  });

  const finite = '{"count":2,"mean":0.5,"histogram":{"bins":[0.0,0.5,1.0],"counts":[1,1]}}';
  const words = '{"mean":"nan","max":"inf","min":"-inf","histogram":"inf","norm":"odd"}';

  test.each([
    ["behind", `{"mean":null,"std":0.5,"min":null,"max":null,"norm":null,"finite":${finite},"nonfinite":${words}}`],
    ["before", `{"nonfinite":${words},"finite":${finite},"mean":null,"std":0.5,"min":null,"max":null,"norm":null}`],
  ])("takes numbers that are told by words %s them, and the histogram of its finite values", (_, stats) => {
    const numbers = { mean: Number.NaN, std: 0.5, min: -Infinity, max: Infinity, norm: null };
    const cells = snapshotCells(`,"stats":${stats}`);
    expect(cells).toMatchObject({ ...numbers, bins: [0, 0.5, 1], counts: [1, 1], stats, raw: "" });
  });

  test("whose words are no object, or contradict a number, keeps its numbers", () => {
    expect(snapshotCells(',"stats":{"mean":null,"nonfinite":"nan","finite":3}')).toMatchObject({
      mean: null,
      bins: [],
    });
    expect(snapshotCells(',"stats":{"mean":1.5,"nonfinite":{"mean":"nan"}}')).toMatchObject({ mean: 1.5 });
  });

  test("with a histogram of all values keeps that one", () => {
    const own = '"histogram":{"bins":[0.0,2.0],"counts":[4]}';
    for (const stats of [`{${own},"finite":${finite}}`, `{"finite":${finite},${own}}`])
      expect(snapshotCells(`,"stats":${stats}`)).toMatchObject({ bins: [0, 2], counts: [4] });
  });

  test("with statistics of another shape keeps their text and leaves the columns empty", () => {
    for (const stats of [
      "7",
      '"x"',
      "[1]",
      '{"mean":"low","histogram":[1]}',
      '{"histogram":{"bins":[1,"x"],"counts":{}}}',
    ]) {
      expect(snapshotCells(`,"stats":${stats}`)).toMatchObject({ stats, mean: null, bins: [], counts: [], raw: "" });
    }
  });
});
