// Statistics and a histogram of a tensor in a file, read in two passes by chunks: the edges need the extremes.

import type { RangeSource, Tensor } from "./safetensors.ts";
import { decodeNumbers, dtypeBytes } from "./tensor-values.ts";

export interface Histogram {
  /** Over finite values; null when there is none. */
  readonly min: number | null;
  readonly max: number | null;
  readonly mean: number | null;
  readonly std: number | null;
  readonly norm: number | null;
  readonly nan: number;
  readonly infinite: number;
  /** One more than counts. A value on an inner edge belongs to the bin above it. */
  readonly edges: readonly number[];
  readonly counts: readonly number[];
}

export async function readHistogram(source: RangeSource, tensor: Tensor, bins: number): Promise<Histogram> {
  const sums = { count: 0, nan: 0, infinite: 0, min: Number.POSITIVE_INFINITY, max: Number.NEGATIVE_INFINITY };
  // Welford's mean and variance: a plain sum of squares loses all digits of a large, narrow tensor.
  let mean = 0;
  let spread = 0;
  let squares = 0;
  for await (const values of chunksOf(source, tensor)) {
    for (const value of values) {
      if (Number.isNaN(value)) sums.nan++;
      else if (!Number.isFinite(value)) sums.infinite++;
      else {
        sums.count++;
        const delta = value - mean;
        mean += delta / sums.count;
        spread += delta * (value - mean);
        squares += value * value;
        if (value < sums.min) sums.min = value;
        if (value > sums.max) sums.max = value;
      }
    }
  }
  const { count, nan, infinite, min, max } = sums;
  if (count === 0) {
    return { min: null, max: null, mean: null, std: null, norm: null, nan, infinite, edges: [], counts: [] };
  }
  const edges = toEdges(min, max, bins);
  const counts = await readCounts(source, tensor, edges);
  return { min, max, mean, std: Math.sqrt(spread / count), norm: Math.sqrt(squares), nan, infinite, edges, counts };
}

/** A tensor of one value gets a bin of width one, as the SDK gives it. */
function toEdges(min: number, max: number, bins: number): number[] {
  const end = min === max ? min + 1 : max;
  return Array.from({ length: bins + 1 }, (_, i) => (i === bins ? end : min + ((end - min) * i) / bins));
}

async function readCounts(source: RangeSource, tensor: Tensor, edges: readonly number[]): Promise<number[]> {
  const bins = edges.length - 1;
  const counts = new Array<number>(bins).fill(0);
  const min = edges[0] as number;
  const width = ((edges[bins] as number) - min) / bins;
  for await (const values of chunksOf(source, tensor)) {
    for (const value of values) {
      if (!Number.isFinite(value)) continue;
      let bin = Math.min(bins - 1, Math.max(0, Math.floor((value - min) / width)));
      // Division and the edges round differently; the edges decide.
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
