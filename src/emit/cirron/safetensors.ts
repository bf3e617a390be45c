// Tensors ↔ the bytes of a safetensors file.
//
//   8 bytes   length n of the header, little-endian
//   n bytes   JSON {"name":{"dtype":"F32","shape":[…],"data_offsets":[begin,end]},…}, blanks at its end
//   the rest  the tensors back to back; offsets count from here
//
// The header is padded to a multiple of 8, so that the data is aligned for readers that map the file.

import type { KnownTensor } from "./tensor.ts";

export type StoredTensor = Pick<KnownTensor, "name" | "shape" | "containerType" | "bytes">;

const lengthBytes = 8;

export function encodeSafetensors(tensors: readonly StoredTensor[]): Uint8Array {
  const header: Record<string, { dtype: string; shape: readonly number[]; data_offsets: [number, number] }> = {};
  let end = 0;
  for (const tensor of tensors) {
    const begin = end;
    end += tensor.bytes.length;
    header[tensor.name] = { dtype: tensor.containerType, shape: tensor.shape, data_offsets: [begin, end] };
  }
  const text = new TextEncoder().encode(JSON.stringify(header));
  const headerBytes = Math.ceil(text.length / 8) * 8;
  const out = new Uint8Array(lengthBytes + headerBytes + end);
  new DataView(out.buffer).setBigUint64(0, BigInt(headerBytes), true);
  out.fill(0x20, lengthBytes, lengthBytes + headerBytes);
  out.set(text, lengthBytes);
  let at = lengthBytes + headerBytes;
  for (const tensor of tensors) {
    out.set(tensor.bytes, at);
    at += tensor.bytes.length;
  }
  return out;
}

/** Only for files this module wrote; the tensors are views of `file`. */
export function decodeSafetensors(file: Uint8Array): StoredTensor[] {
  const headerBytes = Number(new DataView(file.buffer, file.byteOffset).getBigUint64(0, true));
  const dataStart = lengthBytes + headerBytes;
  const header = JSON.parse(new TextDecoder().decode(file.subarray(lengthBytes, dataStart))) as Record<
    string,
    { dtype: string; shape: number[]; data_offsets: [number, number] }
  >;
  return Object.entries(header).map(
    ([
      name,
      {
        dtype,
        shape,
        data_offsets: [begin, end],
      },
    ]) => ({
      name,
      shape,
      containerType: dtype,
      bytes: file.subarray(dataStart + begin, dataStart + end),
    }),
  );
}
