import { cpSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { makeDataDir } from "../../../tests/support/store-under-test.ts";
import { createFsBlobs } from "./fs-blobs.ts";
import { findTensor, readTensorFile, toRangeSource } from "./safetensors.ts";
import { readHistogram } from "./tensor-histogram.ts";
import { decodeNumbers } from "./tensor-values.ts";

interface Snapshot {
  readonly span_id: string;
  readonly tensor_name: string;
  readonly shape: readonly number[];
  readonly blob_uri: string | null;
  readonly stats: { readonly mean: number; readonly min: number; readonly max: number; readonly norm: number };
}

const spoolFolder = fileURLToPath(new URL("../../../tests/fixtures/cirron/torch_full/.cirron", import.meta.url));

function readSnapshots(): Snapshot[] {
  const folder = join(spoolFolder, "spool");
  return readdirSync(folder).flatMap((name) => {
    const batch = JSON.parse(readFileSync(join(folder, name), "utf8")) as { snapshots: Snapshot[] };
    return batch.snapshots.filter((snapshot) => snapshot.blob_uri !== null);
  });
}

it("finds every tensor of a real training in its file, with the statistics its record has [CT-16] [CT-17]", async () => {
  const folder = makeDataDir();
  cpSync(join(spoolFolder, "snapshots"), folder, { recursive: true });
  const blobs = await createFsBlobs(folder);
  const snapshots = readSnapshots();
  expect(snapshots.length).toBeGreaterThan(10);
  for (const snapshot of snapshots) {
    const kind = snapshot.tensor_name.endsWith(".grad") ? "gradients" : "weights";
    const source = await toRangeSource(blobs, `${snapshot.span_id}/${kind}.safetensors`);
    const read = source === null ? null : await readTensorFile(source);
    if (source === null || read === null || !read.ok) throw new Error(`no file for ${snapshot.span_id}`);
    const tensor = findTensor(read.file, snapshot.tensor_name);
    expect(tensor?.shape).toEqual(snapshot.shape);
    const { edges, counts } = await readHistogram(source, tensor!, 16);
    const bytes = await buffer(source.read(tensor!.start, tensor!.end));
    const values = decodeNumbers(tensor!.dtype, bytes);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(values.length);
    if (values.length === 0) continue;
    const { mean, min, max, norm } = snapshot.stats;
    expect(edges[0]).toBeCloseTo(min, 4);
    expect(edges.at(-1)).toBeCloseTo(min === max ? min + 1 : max, 4);
    expect(values.reduce((sum, value) => sum + value, 0) / values.length).toBeCloseTo(mean, 4);
    expect(Math.hypot(...values)).toBeCloseTo(norm, 4);
  }
  rmSync(folder, { recursive: true, force: true });
});
