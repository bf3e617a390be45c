// The routes' files, bound to the blob store and the table that says where each blob is.

import type { FileReads, StoredFile, TensorValues } from "#api/reads.ts";
import type { BlobStore } from "#store/blobs/blob-store.ts";
import { findTensor, type RangeSource, readTensorFile, type Tensor, toRangeSource } from "#store/blobs/safetensors.ts";
import { readHistogram } from "#store/blobs/tensor-histogram.ts";
import { decodeValues, dtypeBytes } from "#store/blobs/tensor-values.ts";
import { blobQuery, blobsOfRunsQuery, tensorOfSnapshotQuery } from "#store/reader/blobs.ts";
import type { Store } from "#store/store.ts";

interface BlobRow {
  readonly object_key: string;
}

/** `caughtUp` resolves when what was accepted until now can be queried: a file can be had where its answer said so. */
export function createFileReads(store: Store, blobs: BlobStore, caughtUp: () => Promise<void>): FileReads {
  const look = async (workspace: string, owners: readonly string[], kind: string): Promise<string | null> => {
    const [row] = await store.query<BlobRow>(blobQuery(store.database, workspace, owners, kind));
    return row === undefined || (await blobs.size(row.object_key)) === null ? null : row.object_key;
  };
  const find = async (workspace: string, owners: readonly string[], kind: string): Promise<string | null> => {
    const found = await look(workspace, owners, kind);
    if (found !== null) return found;
    await caughtUp();
    return look(workspace, owners, kind);
  };
  return {
    async tensorValues(workspace, { id, span, tensor }, wish) {
      // The document names a file by its snapshot; real clients write one for all weights, one for all gradients.
      const key = (await find(workspace, [span], kindOf(tensor))) ?? (await look(workspace, [span], id));
      const source = key === null ? null : await toRangeSource(blobs, key);
      return source === null ? null : readValues(source, tensor, wish);
    },
    async blob(workspace, span, name) {
      const own = await find(workspace, [span], name);
      if (own !== null) return blobs.read(own);
      const query = tensorOfSnapshotQuery(store.database, workspace, span, name);
      const [snapshot] = await store.query<{ tensor: string }>(query);
      const key = snapshot === undefined ? null : await look(workspace, [span], kindOf(snapshot.tensor));
      return key === null ? null : blobs.read(key);
    },
    artifacts: (workspace, runs) => store.query<StoredFile>(blobsOfRunsQuery(store.database, workspace, runs)),
    async artifact(workspace, runs, name) {
      const key = await find(workspace, runs, `artifact:${name}`);
      return key === null ? null : blobs.read(key);
    },
  };
}

function kindOf(tensor: string): string {
  return tensor.endsWith(".grad") ? "gradients" : "weights";
}

async function readValues(
  source: RangeSource,
  name: string,
  wish: { readonly offset: number; readonly limit: number; readonly bins: number | null },
): Promise<TensorValues | { reason: string }> {
  const read = await readTensorFile(source);
  if (!read.ok) return { reason: read.reason };
  const tensor = findTensor(read.file, name);
  if (tensor === null) return { reason: `it holds no tensor ${JSON.stringify(name)}` };
  return {
    shape: tensor.shape,
    dtype: tensor.dtype,
    total: tensor.elements,
    values: await readFlat(source, tensor, wish.offset, wish.limit),
    histogram: wish.bins === null ? null : await toHistogram(source, tensor, wish.bins),
  };
}

/** Values in row-major order from an offset on; only their bytes are read. */
async function readFlat(
  source: RangeSource,
  tensor: Tensor,
  offset: number,
  limit: number,
): Promise<(number | bigint)[]> {
  const width = dtypeBytes[tensor.dtype];
  const from = Math.min(offset, tensor.elements);
  const to = Math.min(from + limit, tensor.elements);
  const chunks: Uint8Array[] = [];
  for await (const chunk of source.read(tensor.start + from * width, tensor.start + to * width)) chunks.push(chunk);
  return [...decodeValues(tensor.dtype, Buffer.concat(chunks))];
}

async function toHistogram(source: RangeSource, tensor: Tensor, bins: number): Promise<TensorValues["histogram"]> {
  const { edges, counts, nan, infinite } = await readHistogram(source, tensor, bins);
  return { bins: [...edges], counts: [...counts], nan, infinite };
}
