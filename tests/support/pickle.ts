// Plain data as a Python pickle of protocol 2, as PyTorch's flight recorder writes it.

type Plain = null | boolean | number | string | readonly Plain[] | { readonly [key: string]: Plain };

export function toPickle(value: Plain): Buffer {
  return Buffer.concat([Buffer.from([0x80, 2]), ...encode(value), Buffer.from(".")]);
}

function encode(value: Plain): Buffer[] {
  if (value === null) return [Buffer.from("N")];
  if (typeof value === "boolean") return [Buffer.from([value ? 0x88 : 0x89])];
  if (typeof value === "number") return [encodeNumber(value)];
  if (typeof value === "string") return [encodeText(value)];
  if (Array.isArray(value))
    return [Buffer.from("]("), ...(value as readonly Plain[]).flatMap(encode), Buffer.from("e")];
  const pairs = Object.entries(value).flatMap(([key, one]) => [encodeText(key), ...encode(one as Plain)]);
  return [Buffer.from("}("), ...pairs, Buffer.from("u")];
}

function encodeNumber(value: number): Buffer {
  const bytes = Buffer.alloc(5);
  bytes.write("J");
  bytes.writeInt32LE(value, 1);
  return bytes;
}

function encodeText(text: string): Buffer {
  const body = Buffer.from(text);
  const head = Buffer.alloc(5);
  head.write("X");
  head.writeUInt32LE(body.length, 1);
  return Buffer.concat([head, body]);
}
