// Reads rows in the engine's RowBinary format: values back to back, each in the form of its type. For answers of many
// rows that are worked on here rather than sent on; as JSON they would be written and parsed once more.

export class RowBinaryReader {
  private readonly bytes: Buffer;
  private at = 0;

  constructor(chunks: readonly Uint8Array[]) {
    this.bytes = Buffer.concat(chunks);
  }

  get done(): boolean {
    return this.at >= this.bytes.length;
  }

  readText(): string {
    let length = 0;
    let scale = 1;
    for (;;) {
      const byte = this.bytes[this.at++] as number;
      length += (byte & 0x7f) * scale;
      if (byte < 0x80) break;
      scale *= 128;
    }
    const start = this.at;
    this.at += length;
    return this.bytes.toString("utf8", start, this.at);
  }

  readUInt8(): number {
    return this.bytes[this.at++] as number;
  }

  readUInt32(): number {
    this.at += 4;
    return this.bytes.readUInt32LE(this.at - 4);
  }

  /** As a number: for counters, not for times. */
  readNullableInt64(): number | null {
    if (this.readUInt8() === 1) return null;
    this.at += 8;
    return this.bytes.readInt32LE(this.at - 4) * 4294967296 + this.bytes.readUInt32LE(this.at - 8);
  }
}
