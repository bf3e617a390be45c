// Reads the engine's Native format: `varint columns, varint rows`, then for each column its name, type and data,
// block after block. Only the types that our own queries ask for.

export type DecodedColumn =
  | { readonly kind: "int64"; readonly values: BigInt64Array }
  | { readonly kind: "uint32"; readonly values: Uint32Array }
  | { readonly kind: "uint8"; readonly values: Uint8Array }
  | { readonly kind: "string"; readonly bytes: Uint8Array; readonly ends: Uint32Array }
  | { readonly kind: "int32"; readonly values: Int32Array }
  | { readonly kind: "fixed"; readonly width: number; readonly bytes: Uint8Array }
  | { readonly kind: "dict"; readonly keys: readonly string[]; readonly codes: Uint32Array };

export interface DecodedBlock {
  readonly rows: number;
  readonly columns: ReadonlyMap<string, DecodedColumn>;
}

const textDecoder = new TextDecoder();

type OfKind<K extends DecodedColumn["kind"]> = Extract<DecodedColumn, { kind: K }>;

/** A column of the kind that the query made it. */
export function columnOf<K extends DecodedColumn["kind"]>(block: DecodedBlock, name: string, kind: K): OfKind<K> {
  const column = block.columns.get(name);
  if (column?.kind !== kind) throw new Error(`the column ${name} is ${column?.kind}, not ${kind}`);
  return column as OfKind<K>;
}

export function decodeBlocks(bytes: Uint8Array): DecodedBlock[] {
  const reader = new BlockReader(bytes);
  const blocks: DecodedBlock[] = [];
  while (!reader.isAtEnd) blocks.push(reader.readBlock());
  return blocks;
}

class BlockReader {
  private at = 0;
  private readonly bytes: Uint8Array;
  private readonly view: DataView;

  constructor(bytes: Uint8Array) {
    // A Buffer's slice would be a view and not a copy.
    this.bytes = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get isAtEnd(): boolean {
    return this.at >= this.bytes.length;
  }

  readBlock(): DecodedBlock {
    const columnCount = this.readVarint();
    const rows = this.readVarint();
    const columns = new Map<string, DecodedColumn>();
    for (let column = 0; column < columnCount; column++) {
      const name = this.readText();
      const type = this.readText();
      if (rows > 0) columns.set(name, this.readColumn(type, rows));
    }
    return { rows, columns };
  }

  private readColumn(type: string, rows: number): DecodedColumn {
    if (type === "Int64") return { kind: "int64", values: new BigInt64Array(this.take(rows * 8).buffer) };
    if (type === "UInt32") return { kind: "uint32", values: new Uint32Array(this.take(rows * 4).buffer) };
    if (type === "Int32") return { kind: "int32", values: new Int32Array(this.take(rows * 4).buffer) };
    if (type === "String") return this.readStrings(rows);
    if (type === "UInt8") return { kind: "uint8", values: this.take(rows) };
    const fixed = /^FixedString\((\d+)\)$/.exec(type);
    if (fixed !== null) {
      const width = Number(fixed[1]);
      return { kind: "fixed", width, bytes: this.take(rows * width) };
    }
    if (type === "LowCardinality(String)") return this.readDict(rows);
    throw new Error(`the reader of native blocks does not know the type ${type}`);
  }

  /** Each value is `varint length; bytes`; here they lie back to back. */
  private readStrings(rows: number): DecodedColumn {
    const ends = new Uint32Array(rows);
    const starts = new Uint32Array(rows);
    let size = 0;
    for (let row = 0; row < rows; row++) {
      const length = this.readVarint();
      starts[row] = this.at;
      this.at += length;
      size += length;
      ends[row] = size;
    }
    const bytes = new Uint8Array(size);
    let at = 0;
    for (let row = 0; row < rows; row++) {
      const start = starts[row] as number;
      const end = ends[row] as number;
      bytes.set(this.bytes.subarray(start, start + end - at), at);
      at = end;
    }
    return { kind: "string", bytes, ends };
  }

  /** `u64 version; u64 flags and index width; u64 keys; keys; u64 rows; codes`. */
  private readDict(rows: number): DecodedColumn {
    this.at += 8;
    const width = 1 << (this.view.getUint32(this.at, true) & 0xff);
    this.at += 8;
    const keyCount = this.readCount();
    const keys = Array.from({ length: keyCount }, () => this.readText());
    this.readCount();
    const raw = this.take(rows * width);
    const view = new DataView(raw.buffer);
    const codes = new Uint32Array(rows);
    for (let row = 0; row < rows; row++)
      codes[row] =
        width === 1
          ? (raw[row] as number)
          : width === 2
            ? view.getUint16(row * 2, true)
            : view.getUint32(row * 4, true);
    return { kind: "dict", keys, codes };
  }

  private readCount(): number {
    const count = this.view.getUint32(this.at, true);
    this.at += 8;
    return count;
  }

  private readText(): string {
    const length = this.readVarint();
    const text = textDecoder.decode(this.bytes.subarray(this.at, this.at + length));
    this.at += length;
    return text;
  }

  private readVarint(): number {
    let value = 0;
    let scale = 1;
    for (;;) {
      const byte = this.bytes[this.at++] as number;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 128;
    }
  }

  /** A copy, so that it is aligned for whatever it is viewed as. */
  private take(size: number): Uint8Array<ArrayBuffer> {
    const part = this.bytes.slice(this.at, this.at + size) as Uint8Array<ArrayBuffer>;
    this.at += size;
    return part;
  }
}
