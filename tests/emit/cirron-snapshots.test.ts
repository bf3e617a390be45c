// Tensors of a program, read back from the spool and from the safetensors files beside it.

import { existsSync, readdirSync } from "node:fs";
import { afterEach, describe, expect, it } from "vitest";
import { epochs, profile, scope, shutdown, snapshot, watch } from "../../src/emit/cirron.ts";
import { makeFolder } from "../support/folder.ts";
import { readSafetensors, readSpool } from "./read-spool.ts";

afterEach(() => shutdown());

const weights = Float32Array.from({ length: 12 }, (_, i) => Math.sin(i));
const bias = Float64Array.from([0.5, -0.5]);
const model = {
  "layer1.0.weight": { data: weights, shape: [3, 4], grad: { data: weights.map((x) => x * 2), shape: [3, 4] } },
  "layer1.0.bias": { data: bias, grad: null },
};

function train(folder: string, mode: "stats" | "sampled" | "full", sampleRate: number, turns = 2) {
  profile({ path: folder, snapshots: mode, sampleRate });
  watch(model);
  for (const _ of epochs(turns)) scope("step", () => undefined);
  return shutdown();
}

describe("mode stats", () => {
  it("is the default and writes statistics only [CT-13, CT-14]", async () => {
    const path = makeFolder();
    profile({ path });
    watch(model);
    for (const _ of epochs(1));
    await shutdown();
    const { snapshots, spans } = readSpool(path);
    const epoch = spans.find((row) => row.name === "epoch");
    expect(snapshots.map((row) => [row.tensor_name, row.shape, row.dtype, row.mode, row.blob_uri])).toEqual([
      ["layer1.0.weight", [3, 4], "float32", "stats", null],
      ["layer1.0.bias", [2], "float64", "stats", null],
      ["layer1.0.weight.grad", [3, 4], "float32", "stats", null],
    ]);
    for (const row of snapshots) expect(row.span_id).toBe(epoch?.id);
    expect(snapshots[1]?.stats).toMatchObject({ mean: 0, std: 0.5, min: -0.5, max: 0.5 });
    expect(existsSync(`${path}/snapshots`)).toBe(false);
  });
});

describe("mode full", () => {
  it("writes one file per span and kind, with the records' names as its keys [CT-01, CT-16, CT-17, CT-18]", async () => {
    const path = makeFolder();
    await train(path, "full", 0);
    const { snapshots, spans } = readSpool(path);
    const epochSpans = spans.filter((row) => row.name === "epoch");
    expect(readdirSync(`${path}/snapshots`).sort()).toEqual(epochSpans.map((row) => row.id).sort());
    expect(snapshots).toHaveLength(6);
    for (const epoch of epochSpans) {
      const own = snapshots.filter((row) => row.span_id === epoch.id);
      const uris = new Map(own.map((row) => [row.tensor_name, row.blob_uri as string]));
      expect(new Set(uris.values()).size).toBe(2);
      expect(uris.get("layer1.0.weight")).toBe(uris.get("layer1.0.bias"));
      expect(uris.get("layer1.0.weight")).toBe(`file://${path}/snapshots/${epoch.id}/weights.safetensors`);
      expect(uris.get("layer1.0.weight.grad")).toBe(`file://${path}/snapshots/${epoch.id}/gradients.safetensors`);
      expect(own.every((row) => row.mode === "full")).toBe(true);
    }
  });

  it("lets a reader get every tensor as the document's example does [CT-23]", async () => {
    const path = makeFolder();
    await train(path, "full", 0);
    // The document's example, line by line, in TypeScript.
    let read = 0;
    const { spans, snapshots } = readSpool(path);
    for (const span of spans) expect(span.end_ns - span.start_ns).toBeGreaterThanOrEqual(0n);
    for (const snap of snapshots) {
      if (snap.blob_uri === null) continue;
      const tensor = readSafetensors(snap.blob_uri.replace(/^file:\/\//, "")).get(snap.tensor_name);
      expect(tensor?.shape).toEqual(snap.shape);
      const floats = tensor?.bytes as Buffer;
      const source = snap.tensor_name === "layer1.0.bias" ? bias : weights;
      const factor = snap.tensor_name.endsWith(".grad") ? 2 : 1;
      const step = source.BYTES_PER_ELEMENT;
      for (let i = 0; i < source.length; i++) {
        const value = step === 8 ? floats.readDoubleLE(i * 8) : floats.readFloatLE(i * 4);
        expect(value).toBe(step === 8 ? source[i] : Math.fround((source[i] as number) * factor));
      }
      read++;
    }
    expect(read).toBe(6);
  });

  it("adds a second capture on one span to the same file", async () => {
    const path = makeFolder();
    profile({ path, snapshots: "full" });
    scope("warmup", () => {
      snapshot({ a: Float32Array.of(1), b: Int8Array.of(2) });
      snapshot({ b: Int8Array.of(3), c: Uint8Array.of(4) });
      snapshot({ "a.grad": Float32Array.of(9) }, "gradients");
    });
    await shutdown();
    const { snapshots } = readSpool(path);
    const file = readSafetensors(snapshots[0]?.blob_uri as string);
    expect([...file].map(([name, { dtype, bytes }]) => [name, dtype, bytes.at(-1)])).toEqual([
      ["a", "F32", 0x3f],
      ["b", "I8", 3],
      ["c", "U8", 4],
    ]);
    expect(new Set(snapshots.map((row) => row.blob_uri)).size).toBe(2);
  });
});

describe("mode sampled", () => {
  it("keeps whole tensors only at the epochs the dice choose [CT-15]", async () => {
    const always = makeFolder();
    await train(always, "sampled", 1);
    expect(readSpool(always).snapshots.every((row) => row.mode === "sampled" && row.blob_uri !== null)).toBe(true);
    const never = makeFolder();
    await train(never, "sampled", 0);
    expect(readSpool(never).snapshots.every((row) => row.mode === "stats" && row.blob_uri === null)).toBe(true);
    const half = makeFolder();
    await train(half, "sampled", 0.5, 60);
    const { snapshots } = readSpool(half);
    const bySpan = Map.groupBy(snapshots, (row) => row.span_id);
    for (const rows of bySpan.values()) expect(new Set(rows.map((row) => row.mode)).size).toBe(1);
    const chosen = [...bySpan.values()].filter((rows) => rows[0]?.mode === "sampled").length;
    expect(chosen).toBeGreaterThan(10);
    expect(chosen).toBeLessThan(50);
  });
});

it("keeps training when a model cannot be read", async () => {
  const path = makeFolder();
  profile({ path });
  watch({
    namedParameters() {
      throw new Error("not today");
    },
  });
  watch({ notATensor: [1, 2, 3] as never, fine: Float32Array.of(1) });
  for (const _ of epochs(1));
  await shutdown();
  expect(readSpool(path).snapshots.map((row) => row.tensor_name)).toEqual(["fine"]);
});
