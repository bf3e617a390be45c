// Reads the engine's Native format: `varint columns, varint rows`, then for each column its name, type and data,
// block after block. Only the types that our own queries ask for.

export type DecodedColumn =
  | { readonly kind: "int64"; readonly values: BigInt64Array }
  | { readonly kind: "uint64"; readonly values: BigUint64Array }
  | { readonly kind: "float64"; readonly values: Float64Array }
  | { readonly kind: "uint32"; readonly values: Uint32Array }
  | { readonly kind: "int32"; readonly values: Int32Array }
  | { readonly kind: "uint8"; readonly values: Uint8Array }
  | { readonly kind: "string"; readonly bytes: Uint8Array; readonly ends: Uint32Array }
  | { readonly kind: "fixed"; readonly width: number; readonly bytes: Uint8Array }
  /** The items of all rows back to back; `ends` has one end a row. */
  | { readonly kind: "array"; readonly ends: BigUint64Array; readonly items: DecodedColumn }
  /** `nulls` has a 1 where a row is absent; `inner` holds a zero or '' there. */
  | { readonly kind: "nullable"; readonly nulls: Uint8Array; readonly inner: DecodedColumn }
  | { readonly kind: "dict"; readonly keys: readonly string[]; readonly codes: Uint32Array };

export interface DecodedBlock {
  readonly rows: number;
  readonly columns: ReadonlyMap<string, DecodedColumn>;
}

type OfKind<K extends DecodedColumn["kind"]> = Extract<DecodedColumn, { kind: K }>;

/** A column, which must be of this kind. */
export function columnOf<K extends DecodedColumn["kind"]>(block: DecodedBlock, name: string, kind: K): OfKind<K> {
  const column = block.columns.get(name);
  if (column?.kind !== kind) throw new Error(`the column ${name} is ${column?.kind}, not ${kind}`);
  return column as OfKind<K>;
}

/** One after the other, so that the reader of many can pause between them. */
export function* decodeBlocks(bytes: Uint8Array): Generator<DecodedBlock> {
  const reader = new BlockReader(bytes);
  while (!reader.isAtEnd) yield reader.readBlock();
}

type Bytes = Uint8Array<ArrayBuffer>;

interface FixedType {
  readonly width: number;
  view(bytes: Bytes): DecodedColumn;
}

/** Values of these types have a fixed size in bytes. */
const fixedTypes: Readonly<Record<string, FixedType>> = {
  Int64: { width: 8, view: ({ buffer }) => ({ kind: "int64", values: new BigInt64Array(buffer) }) },
  UInt64: { width: 8, view: ({ buffer }) => ({ kind: "uint64", values: new BigUint64Array(buffer) }) },
  Float64: { width: 8, view: ({ buffer }) => ({ kind: "float64", values: new Float64Array(buffer) }) },
  UInt32: { width: 4, view: ({ buffer }) => ({ kind: "uint32", values: new Uint32Array(buffer) }) },
  Int32: { width: 4, view: ({ buffer }) => ({ kind: "int32", values: new Int32Array(buffer) }) },
  UInt8: { width: 1, view: (values) => ({ kind: "uint8", values }) },
  Bool: { width: 1, view: (values) => ({ kind: "uint8", values }) },
};

function fixedTypeOf(type: string): FixedType | undefined {
  const [, digits] = /^FixedString\((\d+)\)$/.exec(type) ?? [];
  if (digits === undefined) return fixedTypes[type];
  const width = Number(digits);
  return { width, view: (bytes) => ({ kind: "fixed", width, bytes }) };
}

/** The type inside `Name(…)`, and inside an aggregate that is kept as its value. */
function innerOf(type: string, name: string): string | undefined {
  return type.startsWith(`${name}(`) ? type.slice(name.length + 1, -1) : undefined;
}

function plainOf(type: string): string {
  return /^SimpleAggregateFunction\(\w+, (.*)\)$/.exec(type)?.[1] ?? type;
}

const noTexts = { keys: [], codes: new Uint32Array(0) };

function unknownType(type: string): Error {
  return new Error(`the reader of native blocks does not know the type ${type}`);
}

/** Thrown by `skipBlock` when the bytes end before the block does. */
export class ShortBlock extends Error {
  /** How many bytes there must be at least. */
  readonly needed: number;
  constructor(needed: number) {
    super(`the block ends after byte ${needed} or later`);
    this.needed = needed;
  }
}

export class BlockReader {
  at = 0;
  private readonly bytes: Uint8Array;
  private readonly view: DataView;
  /** The same bytes as a Buffer, which reads short texts in a third of the time that a decoder takes. */
  private readonly texts: Buffer;

  constructor(bytes: Uint8Array) {
    // A Buffer's slice would be a view and not a copy.
    this.bytes = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.texts = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
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

  /** Moves past the block that begins here without decoding it; throws a ShortBlock if it is not all there. */
  skipBlock(): void {
    const columnCount = this.readVarint();
    const rows = this.readVarint();
    for (let column = 0; column < columnCount; column++) {
      this.skipText();
      const type = this.readText();
      if (rows > 0) this.skipColumn(type, rows);
      this.checkEnd(0);
    }
  }

  private skipColumn(given: string, rows: number): void {
    const type = plainOf(given);
    const width = fixedTypeOf(type)?.width;
    const nullable = innerOf(type, "Nullable");
    const item = innerOf(type, "Array");
    if (width !== undefined) this.at += rows * width;
    else if (type === "String") for (let row = 0; row < rows; row++) this.skipText();
    else if (nullable !== undefined) {
      this.at += rows;
      this.skipColumn(nullable, rows);
    } else if (item !== undefined) {
      this.at += (rows - 1) * 8;
      const items = this.readCount();
      if (items > 0) this.skipColumn(item, items);
    } else if (type === "LowCardinality(String)") {
      // Laid out as `readDict` says.
      this.checkEnd(24);
      const codeWidth = 1 << (this.view.getUint32(this.at + 8, true) & 0xff);
      this.at += 16;
      for (let keys = this.readCount(); keys > 0; keys--) this.skipText();
      this.at += 8 + rows * codeWidth;
    } else throw unknownType(type);
  }

  private skipText(): void {
    const length = this.readVarint();
    this.at += length;
    this.checkEnd(0);
  }

  private checkEnd(more: number): void {
    if (this.at + more > this.bytes.length) throw new ShortBlock(this.at + more);
  }

  private readColumn(given: string, rows: number): DecodedColumn {
    const type = plainOf(given);
    const fixed = fixedTypeOf(type);
    if (fixed !== undefined) return fixed.view(this.take(rows * fixed.width));
    if (type === "String") return this.readStrings(rows);
    if (type === "LowCardinality(String)") return rows === 0 ? { kind: "dict", ...noTexts } : this.readDict(rows);
    const nullable = innerOf(type, "Nullable");
    if (nullable !== undefined)
      return { kind: "nullable", nulls: this.take(rows), inner: this.readColumn(nullable, rows) };
    const item = innerOf(type, "Array");
    if (item === undefined) throw unknownType(type);
    const ends = new BigUint64Array(this.take(rows * 8).buffer);
    return { kind: "array", ends, items: this.readColumn(item, Number(ends.at(-1) ?? 0n)) };
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
    const { bytes: source } = this;
    const bytes = new Uint8Array(size);
    let at = 0;
    for (let row = 0; row < rows; row++) {
      let from = starts[row] as number;
      const end = ends[row] as number;
      // A view for each of many short texts would cost more than copying them byte by byte.
      if (end - at >= 64) bytes.set(source.subarray(from, from + end - at), at);
      else for (let to = at; to < end; to++) bytes[to] = source[from++] as number;
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
    this.checkEnd(8);
    const count = this.view.getUint32(this.at, true);
    this.at += 8;
    return count;
  }

  private readText(): string {
    const length = this.readVarint();
    this.checkEnd(length);
    const text = this.texts.toString("utf8", this.at, this.at + length);
    this.at += length;
    return text;
  }

  private readVarint(): number {
    let value = 0;
    let scale = 1;
    for (;;) {
      if (this.at >= this.bytes.length) throw new ShortBlock(this.at + 1);
      const byte = this.bytes[this.at++] as number;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 128;
    }
  }

  /** A copy, so that it is aligned for whatever it is viewed as. */
  private take(size: number): Bytes {
    const part = this.bytes.slice(this.at, this.at + size) as Bytes;
    this.at += size;
    return part;
  }
}
