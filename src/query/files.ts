// Bytes in the blob store: files of runs, tensors of snapshots, and values of tensors.

import { started } from "#base/started.ts";
import { BlobOutage } from "#store/blobs/blob-store.ts";
import { findTensor, type RangeSource, readTensorFile, type Tensor, toRangeSource } from "#store/blobs/safetensors.ts";
import { readHistogram } from "#store/blobs/tensor-histogram.ts";
import { decodeValues, dtypeBytes } from "#store/blobs/tensor-values.ts";
import { readBlobKey, readTensorOfSnapshot } from "#store/reader/blobs.ts";
import type { Sources } from "./sources.ts";

/** The bytes of an artifact of a run, which is known by these names; null when it is not stored. */
export function openArtifact(sources: Sources, workspace: string, names: readonly string[], artifact: string) {
  return openBlob(sources, workspace, names, `artifact:${artifact}`);
}

/** By `weights`, `gradients` or the id of a snapshot that is in one of these files; null when it is not stored. */
export async function openTensors(
  sources: Sources,
  workspace: string,
  span: string,
  name: string,
): Promise<AsyncIterable<Uint8Array> | null> {
  const own = await openBlob(sources, workspace, [span], name);
  if (own !== null) return own;
  const tensor = await readTensorOfSnapshot(sources.store, workspace, span, name);
  return tensor === null ? null : openBlob(sources, workspace, [span], blobKindOf(tensor));
}

async function openBlob(
  sources: Sources,
  workspace: string,
  owners: readonly string[],
  kind: string,
): Promise<AsyncIterable<Uint8Array> | null> {
  return whereverItIs(async () => {
    const key = await findBlob(sources, workspace, owners, kind);
    return key === null ? null : started(sources.blobs.read(key));
  });
}

/** A file may be moved to its run after it was found and before it is read: then it is looked for once more. */
async function whereverItIs<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof BlobOutage && error.kind === "missing") return work();
    throw error;
  }
}

/** A file can be had as soon as its request was answered, so what was accepted is waited for before it is missing. */
async function findBlob(
  sources: Sources,
  workspace: string,
  owners: readonly string[],
  kind: string,
): Promise<string | null> {
  const found = await lookForBlob(sources, workspace, owners, kind);
  if (found !== null) return found;
  await sources.caughtUp();
  return lookForBlob(sources, workspace, owners, kind);
}

async function lookForBlob(
  { store, blobs }: Sources,
  workspace: string,
  owners: readonly string[],
  kind: string,
): Promise<string | null> {
  const key = await readBlobKey(store, workspace, owners, kind);
  return key === null || (await blobs.size(key)) === null ? null : key;
}

/** Which blob of its span a tensor lies in. */
export function blobKindOf(tensor: string): "gradients" | "weights" {
  return tensor.endsWith(".grad") ? "gradients" : "weights";
}

export interface ValuesQuestion {
  readonly snapshot: string;
  readonly span: string;
  readonly tensor: string;
  readonly offset: number;
  readonly limit: number;
  readonly bins: number | null;
}

/** A snapshot's tensor out of its span's file; a reason when it cannot be read, null when there is no file. */
export function readTensorValues(sources: Sources, workspace: string, question: ValuesQuestion) {
  return whereverItIs(() => readValues(sources, workspace, question));
}

async function readValues(sources: Sources, workspace: string, question: ValuesQuestion) {
  const owners = [question.span];
  // The document names a file by its snapshot; real clients write one for all weights, one for all gradients.
  const key =
    (await findBlob(sources, workspace, owners, blobKindOf(question.tensor))) ??
    (await lookForBlob(sources, workspace, owners, question.snapshot));
  const source = key === null ? null : await toRangeSource(sources.blobs, key);
  if (source === null) return null;
  const read = await readTensorFile(source);
  if (!read.ok) return { reason: read.reason };
  const tensor = findTensor(read.file, question.tensor);
  if (tensor === null) return { reason: `it holds no tensor ${JSON.stringify(question.tensor)}` };
  return {
    shape: [...tensor.shape],
    dtype: tensor.dtype,
    total: tensor.elements,
    values: await readFlat(source, tensor, question.offset, question.limit),
    histogram: question.bins === null ? null : await toHistogram(source, tensor, question.bins),
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
  const chunks = await Array.fromAsync(source.read(tensor.start + from * width, tensor.start + to * width));
  return [...decodeValues(tensor.dtype, Buffer.concat(chunks))];
}

async function toHistogram(source: RangeSource, tensor: Tensor, bins: number) {
  const { edges, counts, nan, infinite } = await readHistogram(source, tensor, bins);
  return { bins: [...edges], counts: [...counts], nan, infinite };
}
