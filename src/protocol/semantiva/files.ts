// Trace streams, in every naming the driver has.

import { type Detection, type FileHead, type FileKind, startsObject, sureness } from "#protocol/file-kind.ts";
import { LineReader } from "#protocol/reading/line-reader.ts";
import { newline } from "#protocol/reading/reader.ts";
import { checkLines } from "./check.ts";

const lineFile: FileKind = {
  name: "semantiva_lines",
  read: (file, options) => new TraceLineReader(file, options),
  check: (file, options, tally) => checkLines(file.path, file.chunks(), options, tally),
};

export function detectSemantiva({ name, text }: FileHead): Detection | null {
  if (startsObject(text) && /"record_type"\s*:/.test(text)) return { kind: lineFile, sure: sureness.key };
  return name.endsWith(".jsonl") ? { kind: lineFile, sure: sureness.ending } : null;
}

/** A file that may still grow. */
class TraceLineReader extends LineReader {
  protected async take(bytes: Buffer): Promise<void> {
    if (this.options.pace.windowNs === 0n) return this.send(bytes);
    for (let start = 0; start < bytes.length; ) {
      const end = bytes.indexOf(newline, start) + 1 || bytes.length;
      const line = bytes.subarray(start, end);
      const time = /"(?:timestamp|started_at)": ?"([^"]+)"/.exec(line.toString("latin1"))?.[1];
      const ms = time === undefined ? Number.NaN : Date.parse(time);
      if (!Number.isNaN(ms)) await this.options.pace.waitFor(BigInt(ms) * 1_000_000n);
      await this.send(line);
      start = end;
    }
  }

  private async send(bytes: Uint8Array): Promise<void> {
    if (bytes.length === 0) return;
    const { path, source } = this.file;
    const { line, offset } = this;
    this.offset += bytes.length;
    for (const byte of bytes) if (byte === newline) this.line++;
    await this.options.sender.send({ route: "semantiva", file: path, source, query: { line, offset } }, bytes);
  }
}
