// A histogram of a tensor in a file, read in two passes by chunks: the edges need the extremes.

import type { RangeSource, Tensor } from "./safetensors.ts";
import { decodeNumbers, dtypeBytes } from "./tensor-values.ts";

export interface Histogram {
  readonly nan: number;
  readonly infinite: number;
  /**
   * The edges of the bins of finite values, one more than `counts`; empty without such values. A value on an inner edge
   * belongs to the bin above it.
   */
  readonly edges: readonly number[];
  readonly counts: readonly number[];
}

export async function readHistogram(source: RangeSource, tensor: Tensor, bins: number): Promise<Histogram> {
  let [min, max] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  let [nan, infinite] = [0, 0];
  for await (const values of chunksOf(source, tensor)) {
    for (const value of values) {
      if (Number.isNaN(value)) nan++;
      else if (!Number.isFinite(value)) infinite++;
      else {
        if (value < min) min = value;
        if (value > max) max = value;
      }
    }
  }
  if (min > max) return { nan, infinite, edges: [], counts: [] };
  const edges = toEdges(min, max, bins);
  return { nan, infinite, edges, counts: await readCounts(source, tensor, edges) };
}

/** If all values are equal, the bins span a width of one, as in the SDK. */
function toEdges(min: number, max: number, bins: number): number[] {
  const end = min === max ? min + 1 : max;
  const isFar = !Number.isFinite((end - min) * bins);
  const edgeAt = (i: number): number =>
    isFar ? min * (1 - i / bins) + end * (i / bins) : min + ((end - min) * i) / bins;
  return Array.from({ length: bins + 1 }, (_, i) => (i === bins ? end : edgeAt(i)));
}

async function readCounts(source: RangeSource, tensor: Tensor, edges: readonly number[]): Promise<number[]> {
  const bins = edges.length - 1;
  const counts = new Array<number>(bins).fill(0);
  const min = edges[0] as number;
  const width = ((edges[bins] as number) - min) / bins;
  for await (const values of chunksOf(source, tensor)) {
    for (const value of values) {
      if (!Number.isFinite(value)) continue;
      // An estimate, and 0 where the width is 0 or infinite; the edges decide.
      let bin = Math.min(bins - 1, Math.max(0, Math.floor((value - min) / width) || 0));
      while (bin > 0 && value < (edges[bin] as number)) bin--;
      while (bin < bins - 1 && value >= (edges[bin + 1] as number)) bin++;
      counts[bin] = (counts[bin] as number) + 1;
    }
  }
  return counts;
}

/** The tensor's numbers as the file's chunks bring them; an element split between two chunks waits for its rest. */
async function* chunksOf(source: RangeSource, tensor: Tensor): AsyncGenerator<Float64Array> {
  const width = dtypeBytes[tensor.dtype];
  let carry = new Uint8Array(0);
  for await (const chunk of source.read(tensor.start, tensor.end)) {
    const bytes = carry.length === 0 ? chunk : Buffer.concat([carry, chunk]);
    const whole = bytes.length - (bytes.length % width);
    yield decodeNumbers(tensor.dtype, bytes.subarray(0, whole));
    carry = bytes.slice(whole);
  }
}
