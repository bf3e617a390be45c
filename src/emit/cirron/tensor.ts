// Tensors of a user's program: typed arrays, alone or with a shape, and their statistics.

export type TensorData =
  | Float64Array
  | Float32Array
  | Int8Array
  | Uint8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | BigInt64Array
  | BigUint64Array;

export interface Tensor {
  readonly data: TensorData;
  /** Default: one dimension. The product must be the number of elements. */
  readonly shape?: readonly number[];
  /** Needed only for types JavaScript lacks: `bfloat16` or `float16` in a Uint16Array, `bool` in a Uint8Array. */
  readonly dtype?: "bfloat16" | "float16" | "bool";
}

export type TensorLike = TensorData | Tensor;

/** A tensor with everything known; `bytes` is a view of the user's memory. */
export interface KnownTensor {
  readonly name: string;
  readonly data: TensorData;
  readonly shape: readonly number[];
  readonly dtype: string;
  readonly containerType: string;
  readonly bytes: Uint8Array;
}

export interface TensorStats {
  readonly mean: number;
  readonly std: number;
  readonly min: number;
  readonly max: number;
  readonly norm: number;
  readonly bins: Float64Array;
  readonly counts: Float64Array;
  readonly nonFinite: number;
}

const histogramBins = 16;

// Our name of a type, and its name inside a safetensors file.
const typesByArray: ReadonlyMap<string, readonly [string, string]> = new Map([
  ["Float64Array", ["float64", "F64"]],
  ["Float32Array", ["float32", "F32"]],
  ["Int8Array", ["int8", "I8"]],
  ["Uint8Array", ["uint8", "U8"]],
  ["Uint8ClampedArray", ["uint8", "U8"]],
  ["Int16Array", ["int16", "I16"]],
  ["Uint16Array", ["uint16", "U16"]],
  ["Int32Array", ["int32", "I32"]],
  ["Uint32Array", ["uint32", "U32"]],
  ["BigInt64Array", ["int64", "I64"]],
  ["BigUint64Array", ["uint64", "U64"]],
]);

const typesByName: ReadonlyMap<string, readonly [string, string, number]> = new Map([
  ["bfloat16", ["bfloat16", "BF16", 2]],
  ["float16", ["float16", "F16", 2]],
  ["bool", ["bool", "BOOL", 1]],
]);

/** Undefined when it is not a tensor: wrong type, or a shape that does not fit the data. */
export function toKnownTensor(name: string, tensor: TensorLike): KnownTensor | undefined {
  if (tensor === null || typeof tensor !== "object") return undefined;
  const isBare = ArrayBuffer.isView(tensor);
  const data = isBare ? (tensor as TensorData) : tensor.data;
  if (!ArrayBuffer.isView(data)) return undefined;
  const shape = isBare ? [data.length] : [...(tensor.shape ?? [data.length])];
  if (shape.reduce((product, size) => product * size, 1) !== data.length) return undefined;
  const named = isBare || tensor.dtype === undefined ? undefined : typesByName.get(tensor.dtype);
  if (named !== undefined && named[2] !== data.BYTES_PER_ELEMENT) return undefined;
  const type = named ?? typesByArray.get(data.constructor.name);
  if (type === undefined) return undefined;
  const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  return { name, data, shape, dtype: type[0], containerType: type[1], bytes };
}

/** Mean, deviation of the whole population, extremes, 2-norm, and 16 equal bins from the smallest to the largest value. */
export function toStats(tensor: KnownTensor): TensorStats {
  const values = toNumbers(tensor);
  const count = values.length;
  let sum = 0;
  let squares = 0;
  let min = Number.POSITIVE_INFINITY;
  let max = Number.NEGATIVE_INFINITY;
  let nonFinite = 0;
  for (let i = 0; i < count; i++) {
    const value = values[i] as number;
    sum += value;
    squares += value * value;
    if (!Number.isFinite(value)) nonFinite++;
    else {
      if (value < min) min = value;
      if (value > max) max = value;
    }
  }
  if (min > max) {
    // No finite value at all: an empty tensor counts as zeros, as in the Python SDK.
    min = nonFinite === 0 ? 0 : Number.NaN;
    max = min;
  }
  const mean = count === 0 ? 0 : sum / count;
  return {
    mean,
    std: toDeviation(values, mean),
    min,
    max,
    norm: Math.sqrt(squares),
    bins: toEdges(min, max, count),
    counts: toCounts(values, min, max),
    nonFinite,
  };
}

// The second pass over the data keeps the deviation right when the mean is far from zero.
function toDeviation(values: ArrayLike<number>, mean: number): number {
  if (values.length === 0) return 0;
  let squares = 0;
  for (let i = 0; i < values.length; i++) {
    const distance = (values[i] as number) - mean;
    squares += distance * distance;
  }
  return Math.sqrt(squares / values.length);
}

function toEdges(min: number, max: number, count: number): Float64Array {
  const edges = new Float64Array(histogramBins + 1);
  const low = Number.isNaN(min) ? 0 : min;
  // A constant tensor has no width; one unit to the right keeps the edges apart.
  const high = count === 0 ? low : max > min ? max : low + 1;
  // Weighted ends instead of a width: between the largest doubles the width is infinite.
  for (let i = 0; i <= histogramBins; i++) {
    const share = i / histogramBins;
    edges[i] = low * (1 - share) + high * share;
  }
  edges[histogramBins] = high;
  return edges;
}

function toCounts(values: ArrayLike<number>, min: number, max: number): Float64Array {
  const counts = new Float64Array(histogramBins);
  // Between the largest doubles the width is infinite, and halves of the smallest would be zero.
  const scale = Number.isFinite(max - min) ? 1 : 0.5;
  const width = max * scale - min * scale;
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number;
    if (!Number.isFinite(value)) continue;
    const share = width > 0 ? (value * scale - min * scale) / width : 0;
    const bin = Math.min(histogramBins - 1, Math.floor(share * histogramBins));
    counts[bin] = (counts[bin] as number) + 1;
  }
  return counts;
}

function toNumbers(tensor: KnownTensor): ArrayLike<number> {
  const { data, dtype } = tensor;
  if (dtype === "bfloat16") return Float64Array.from(data as Uint16Array, fromBfloat16);
  if (dtype === "float16") return Float64Array.from(data as Uint16Array, fromFloat16);
  if (data instanceof BigInt64Array || data instanceof BigUint64Array) {
    const numbers = new Float64Array(data.length);
    for (let i = 0; i < data.length; i++) numbers[i] = Number(data[i]);
    return numbers;
  }
  return data;
}

const word = new DataView(new ArrayBuffer(4));

/** The upper half of a float32. */
function fromBfloat16(bits: number): number {
  word.setUint32(0, bits * 65536);
  return word.getFloat32(0);
}

/** 1 sign bit, 5 exponent bits (bias 15), 10 fraction bits. */
function fromFloat16(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}
