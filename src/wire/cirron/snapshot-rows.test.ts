import { describe, expect, test } from "vitest";
import { snapshot, snapshotCells } from "./test-kit.ts";

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
