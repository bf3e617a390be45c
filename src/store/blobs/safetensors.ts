// Reads safetensors files by ranges, never whole. Layout: u64 little-endian length of the header; the header, JSON in
// UTF-8: `{"<name>": {"dtype", "shape", "data_offsets": [begin, end]}, "__metadata__": {…}}`; then the data, little-
// endian and row-major, offsets counting from its start. Files come from clients, so nothing in them is trusted.

import { isObject } from "#base/json/value.ts";
import type { BlobStore } from "./blob-store.ts";
import { type Dtype, dtypeBytes } from "./tensor-values.ts";

/** A blob that can be read in parts. */
export interface RangeSource {
  readonly size: number;
  read(start: number, end: number): AsyncIterable<Uint8Array>;
}

/** Null when there is no such blob. */
export async function toRangeSource(blobs: BlobStore, key: string): Promise<RangeSource | null> {
  const size = await blobs.size(key);
  return size === null ? null : { size, read: (start, end) => blobs.read(key, { start, end }) };
}

export interface Tensor {
  readonly name: string;
  readonly dtype: Dtype;
  readonly shape: readonly number[];
  readonly elements: number;
  /** Bytes of the tensor in the file. */
  readonly start: number;
  readonly end: number;
}

export interface TensorFile {
  readonly tensors: ReadonlyMap<string, Tensor>;
  readonly metadata: ReadonlyMap<string, string>;
}

export type Read<T> = ({ readonly ok: true } & T) | { readonly ok: false; readonly reason: string };

/** The format's own limit. */
const headerBytesMax = 100_000_000;
const tensorsMax = 1_000_000;
const dimensionsMax = 64;

const refuse = (reason: string): { readonly ok: false; readonly reason: string } => ({ ok: false, reason });

export async function readTensorFile(source: RangeSource): Promise<Read<{ readonly file: TensorFile }>> {
  if (source.size < 8) return refuse("the file is too short for a header");
  const prefix = Buffer.concat(await Array.fromAsync(source.read(0, 8)));
  const length = Number(prefix.readBigUInt64LE());
  if (length > headerBytesMax) return refuse(`the header claims ${length} bytes`);
  if (8 + length > source.size) return refuse("the header is longer than the file");
  const text = Buffer.concat(await Array.fromAsync(source.read(8, 8 + length)));
  let header: unknown;
  try {
    header = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(text));
  } catch {
    return refuse("the header is not JSON in UTF-8");
  }
  if (!isObject(header)) return refuse("the header is no object");
  return toFile(header, 8 + length, source.size);
}

function toFile(header: object, dataStart: number, size: number): Read<{ readonly file: TensorFile }> {
  const entries = Object.entries(header);
  if (entries.length > tensorsMax) return refuse(`the file names more than ${tensorsMax} tensors`);
  const tensors = new Map<string, Tensor>();
  const metadata = new Map<string, string>();
  for (const [name, entry] of entries) {
    if (name === "__metadata__") {
      if (!isObject(entry)) return refuse("__metadata__ is no object");
      for (const [key, value] of Object.entries(entry)) metadata.set(key, String(value));
      continue;
    }
    const tensor = toTensor(name, entry, dataStart, size);
    if (typeof tensor === "string") return refuse(`tensor ${JSON.stringify(name.slice(0, 200))}: ${tensor}`);
    tensors.set(name, tensor);
  }
  return { ok: true, file: { tensors, metadata } };
}

/** The tensor, or what is wrong with it. */
function toTensor(name: string, entry: unknown, dataStart: number, size: number): Tensor | string {
  if (!isObject(entry)) return "its entry is no object";
  const { dtype, shape, data_offsets: offsets } = entry;
  if (typeof dtype !== "string" || !Object.hasOwn(dtypeBytes, dtype))
    return `unknown dtype ${String(dtype).slice(0, 40)}`;
  if (!isCounts(shape) || shape.length > dimensionsMax) return "its shape is no list of sizes";
  if (!isCounts(offsets) || offsets.length !== 2) return "its data_offsets are no pair";
  const [begin, end] = offsets as unknown as [number, number];
  const elements = shape.reduce((product, dimension) => product * dimension, 1);
  if (!Number.isSafeInteger(elements)) return "its shape is too large";
  if (end - begin !== elements * dtypeBytes[dtype as Dtype]) return "its data_offsets do not fit its shape";
  if (dataStart + end > size) return "its data lies beyond the end of the file";
  return { name, dtype: dtype as Dtype, shape, elements, start: dataStart + begin, end: dataStart + end };
}

function isCounts(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((item) => Number.isSafeInteger(item) && item >= 0);
}

/** A gradient's record is `<param>.grad`; real clients name it `<param>` in the file. */
export function findTensor(file: TensorFile, name: string): Tensor | null {
  const exact = file.tensors.get(name);
  if (exact !== undefined || !name.endsWith(".grad")) return exact ?? null;
  return file.tensors.get(name.slice(0, -".grad".length)) ?? null;
}
