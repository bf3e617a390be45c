// Headers of tar archives, as much of the format as a plain list of files needs.
//
// A header is 512 bytes: name at 0 (100), mode at 100 (8), size at 124 (12, octal, or base 256 with the top bit set when it
// has more than 8 GiB), time at 136 (12), checksum at 148 (8), type at 156, "ustar" at 257. Contents follow, padded with
// zeros to 512; two empty blocks end the archive.

export const tarBlockBytes = 512;

export interface TarEntry {
  /** At most 100 bytes of ASCII. */
  readonly name: string;
  readonly sizeBytes: number;
}

const sizeAt = 124;
const checksumAt = 148;
const octalMax = 8 ** 11 - 1;
const textEncoder = new TextEncoder();
const textDecoder = new TextDecoder();

export function encodeTarHeader({ name, sizeBytes }: TarEntry): Uint8Array {
  const header = new Uint8Array(tarBlockBytes);
  const put = (at: number, text: string) => header.set(textEncoder.encode(text), at);
  if (name.length > 100) throw new RangeError(`the name ${name} is too long for a tar archive`);
  put(0, name);
  put(100, "0000600\0");
  put(108, "0000000\0");
  put(116, "0000000\0");
  if (sizeBytes <= octalMax) put(sizeAt, `${sizeBytes.toString(8).padStart(11, "0")}\0`);
  else putLarge(header, sizeBytes);
  put(136, "00000000000\0");
  put(156, "0");
  put(257, "ustar\x0000");
  put(checksumAt, `${sumOf(header).toString(8).padStart(6, "0")}\0 `);
  return header;
}

/** Undefined for the empty block that ends an archive. Throws when the block is not a header. */
export function decodeTarHeader(header: Uint8Array): TarEntry | undefined {
  if (header.every((byte) => byte === 0)) return undefined;
  const text = (at: number, length: number) =>
    textDecoder.decode(header.subarray(at, at + length)).replace(/\0.*$/s, "");
  if (Number.parseInt(text(checksumAt, 8), 8) !== sumOf(header)) throw new RangeError("this is no tar archive");
  const isLarge = ((header[sizeAt] ?? 0) & 0x80) !== 0;
  const sizeBytes = isLarge ? readLarge(header) : Number.parseInt(text(sizeAt, 12), 8);
  return { name: text(0, 100), sizeBytes };
}

/** How many zeros follow contents of this size. */
export function tarPadding(sizeBytes: number): number {
  return (tarBlockBytes - (sizeBytes % tarBlockBytes)) % tarBlockBytes;
}

/** The checksum counts its own field as blanks. */
function sumOf(header: Uint8Array): number {
  let sum = 0;
  for (const [at, byte] of header.entries()) sum += at >= checksumAt && at < checksumAt + 8 ? 0x20 : byte;
  return sum;
}

function putLarge(header: Uint8Array, sizeBytes: number): void {
  let rest = BigInt(sizeBytes);
  for (let at = sizeAt + 11; at > sizeAt; at--) {
    header[at] = Number(rest & 0xffn);
    rest >>= 8n;
  }
  header[sizeAt] = 0x80;
}

function readLarge(header: Uint8Array): number {
  let size = 0n;
  for (let at = sizeAt + 1; at < sizeAt + 12; at++) size = (size << 8n) | BigInt(header[at] ?? 0);
  return Number(size);
}
