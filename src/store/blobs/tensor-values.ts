// The element types of safetensors files. Whatever a double holds exactly becomes a double; 64-bit integers stay
// integers.

export const dtypeBytes = {
  F64: 8,
  F32: 4,
  F16: 2,
  BF16: 2,
  F8_E4M3: 1,
  F8_E5M2: 1,
  I64: 8,
  I32: 4,
  I16: 2,
  I8: 1,
  U64: 8,
  U32: 4,
  U16: 2,
  U8: 1,
  BOOL: 1,
} as const;

export type Dtype = keyof typeof dtypeBytes;
export type Values = Float64Array | BigInt64Array | BigUint64Array;

export function decodeValues(dtype: Dtype, bytes: Uint8Array): Values {
  const count = Math.floor(bytes.length / dtypeBytes[dtype]);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (dtype === "I64") return BigInt64Array.from({ length: count }, (_, i) => view.getBigInt64(i * 8, true));
  if (dtype === "U64") return BigUint64Array.from({ length: count }, (_, i) => view.getBigUint64(i * 8, true));
  const values = new Float64Array(count);
  const read = readers[dtype];
  for (let i = 0; i < count; i++) values[i] = read(view, i);
  return values;
}

/** Like `decodeValues`, but 64-bit integers become the nearest double: for statistics. */
export function decodeNumbers(dtype: Dtype, bytes: Uint8Array): Float64Array {
  const values = decodeValues(dtype, bytes);
  return values instanceof Float64Array ? values : Float64Array.from(values, Number);
}

const readers: Readonly<Record<Exclude<Dtype, "I64" | "U64">, (view: DataView, i: number) => number>> = {
  F64: (view, i) => view.getFloat64(i * 8, true),
  F32: (view, i) => view.getFloat32(i * 4, true),
  F16: (view, i) => fromBits(view.getUint16(i * 2, true), 5, 10),
  // The upper half of a 32-bit float.
  BF16: (view, i) => fromBits(view.getUint16(i * 2, true), 8, 7),
  F8_E5M2: (view, i) => fromBits(view.getUint8(i), 5, 2),
  F8_E4M3: (view, i) => fromE4m3(view.getUint8(i)),
  I32: (view, i) => view.getInt32(i * 4, true),
  I16: (view, i) => view.getInt16(i * 2, true),
  I8: (view, i) => view.getInt8(i),
  U32: (view, i) => view.getUint32(i * 4, true),
  U16: (view, i) => view.getUint16(i * 2, true),
  U8: (view, i) => view.getUint8(i),
  BOOL: (view, i) => view.getUint8(i),
};

/** sign · exponent · mantissa, as IEEE 754 has them: the largest exponent is infinity or NaN. */
function fromBits(bits: number, exponentBits: number, mantissaBits: number): number {
  const exponentMax = (1 << exponentBits) - 1;
  const sign = bits >> (exponentBits + mantissaBits) === 0 ? 1 : -1;
  const exponent = (bits >> mantissaBits) & exponentMax;
  const mantissa = bits & ((1 << mantissaBits) - 1);
  if (exponent === exponentMax) return mantissa === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * scale(exponent, mantissa, exponentMax >> 1, mantissaBits);
}

/** This type has no infinity, and only all ones is NaN. */
function fromE4m3(bits: number): number {
  if ((bits & 127) === 127) return Number.NaN;
  return (bits >> 7 === 0 ? 1 : -1) * scale((bits >> 3) & 15, bits & 7, 7, 3);
}

function scale(exponent: number, mantissa: number, bias: number, mantissaBits: number): number {
  const fraction = mantissa / 2 ** mantissaBits;
  return exponent === 0 ? fraction * 2 ** (1 - bias) : (1 + fraction) * 2 ** (exponent - bias);
}
