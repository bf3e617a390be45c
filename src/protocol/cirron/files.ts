// The files that Cirron writes: a spool of batches, tensor blobs beside it, and captured output with sentinel lines.

import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { JsonCursor } from "#base/json/cursor.ts";
import { parseJson } from "#base/json/parse.ts";
import { locatePointer } from "#base/json/pointer.ts";
import {
  type Detection,
  type FileHead,
  type FileKind,
  readWhole,
  splitLines,
  startsObject,
  sureness,
} from "#protocol/file-kind.ts";
import { type Problem, type Tally, toProblem } from "#protocol/finding.ts";
import { LineReader } from "#protocol/reading/line-reader.ts";
import { OnceReader } from "#protocol/reading/reader.ts";
import { decodeBatch } from "#wire/cirron/decode.ts";
import { findSentinels } from "#wire/cirron/sentinel.ts";
import { isTemporaryName, parseSpoolName } from "#wire/cirron/spool-name.ts";
import { columnOf, type SplitLine } from "#wire/semantiva/lines.ts";
import { cirronFacts } from "./facts.ts";

/** A spool and its snapshots lie in one folder. */
const inSpool = {
  toSource(path: string): string {
    const parts = resolve(path).split("/");
    const at = parts.lastIndexOf(".cirron");
    return at > 0 ? parts.slice(0, at + 1).join("/") : dirname(resolve(path));
  },
};

/** A batch: the spool has one file for each. */
const batchFile: FileKind = {
  ...inSpool,
  name: "cirron_batch",
  read: (file, options) => new BatchReader(file, options),
  async *check(file, _options, tally) {
    yield* checkBatch(file.path, await readWhole(file), tally);
  },
};

/** Captured output with sentinel lines in it. */
const sentinelFile: FileKind = {
  ...inSpool,
  name: "cirron_events",
  read: (file, options) => new SentinelReader(file, options),
  check: (file, _options, tally) => checkSentinels(file.path, file.chunks(), tally),
};

/** Tensors that belong to a spool's snapshots. */
const blobFile: FileKind = {
  ...inSpool,
  name: "cirron_blob",
  isFirst: true,
  read: (file, options) => new BlobReader(file, options),
  check: null,
};

/** A file that is still being written, and will be complete under another name. */
const temporaryFile: FileKind = { name: "temporary", read: null, check: null };

export function detectCirron({ name, text }: FileHead): Detection | null {
  if (isTemporaryName(name)) return { kind: temporaryFile, sure: sureness.name };
  if (name.endsWith(".safetensors")) return { kind: blobFile, sure: sureness.name };
  if (parseSpoolName(name) !== null) return { kind: batchFile, sure: sureness.name };
  if (text.includes('"__cirron_event__"')) return { kind: sentinelFile, sure: sureness.mark };
  return startsObject(text) && /"batch_id"\s*:/.test(text) ? { kind: batchFile, sure: sureness.commonKey } : null;
}

class BatchReader extends OnceReader {
  protected async send(): Promise<void> {
    const { path, source } = this.file;
    const bytes = await readFile(path);
    const named = parseSpoolName(basename(path));
    if (named !== null) await this.options.pace.waitFor(named.createdNs);
    await this.options.sender.send({ route: "cirron", file: path, source }, bytes);
  }
}

class BlobReader extends OnceReader {
  protected async send(): Promise<void> {
    const { path, source } = this.file;
    // The key that the SDK itself would use.
    const key = `snapshots/${basename(dirname(path))}/${basename(path)}`;
    await this.options.sender.sendBlob(path, key, source, () => createReadStream(path));
  }
}

/** Captured output with Cirron's sentinels in it. */
class SentinelReader extends LineReader {
  protected async take(lines: Buffer): Promise<void> {
    const { path, source } = this.file;
    for (const sentinel of findSentinels(lines)) {
      if (sentinel.kind === "trace_batch")
        await this.options.sender.send({ route: "cirron", file: path, source }, sentinel.batch);
    }
  }
}

// Cirron batches: a spool file, or the sentinel lines in captured output.

const protocol = cirronFacts.name;
const marker = Buffer.from('{"__cirron_event__"');

function* checkBatch(file: string, bytes: Uint8Array, tally: Tally): Generator<Problem> {
  const decoded = decodeBatch(bytes);
  if (!decoded.ok) {
    const { code, detail, place } = decoded.refusal;
    yield toProblem("error", protocol, file, { code, detail, place: toLinePlace(bytes, place.offset ?? 0) });
    return;
  }
  const { batch } = decoded;
  tally.addRecord(protocol, "batch");
  for (const [table, type] of [
    [batch.spans, "span"],
    [batch.marks, "mark"],
    [batch.snapshots, "snapshot"],
  ] as const) {
    for (let row = 0; row < table.span_id.length; row++) tally.addRecord(protocol, type);
  }
  for (const { code, detail, place } of batch.faults) {
    const pointer = place.pointer === undefined ? {} : { pointer: place.pointer };
    const where = { ...toLinePlace(bytes, place.offset ?? 0), ...pointer };
    yield toProblem("error", protocol, file, { code, detail, place: where });
  }
  // The name of a spool file says when the batch was made and which it is.
  const named = parseSpoolName(basename(file));
  if (named !== null && (named.batchId !== batch.batchId || named.createdNs !== batch.createdNs)) {
    const detail = `the name says batch ${named.batchId} made at ${named.createdNs}, the content ${batch.batchId} at ${batch.createdNs}`;
    yield toProblem("warning", protocol, file, { code: "name_mismatch", detail, place: { line: 1, column: 1 } });
  }
}

/** A sentinel may be anywhere in a line, because the program may have printed something before it without a newline. */
async function* checkSentinels(file: string, chunks: AsyncIterable<Uint8Array>, tally: Tally): AsyncGenerator<Problem> {
  for await (const line of splitLines(chunks)) yield* checkSentinel(file, line, tally);
}

function* checkSentinel(file: string, line: SplitLine, tally: Tally): Generator<Problem> {
  if (line.kind === "too_long") return;
  const at = Buffer.from(line.bytes.buffer, line.bytes.byteOffset, line.bytes.length).indexOf(marker);
  if (at < 0) return;
  const text = line.bytes.subarray(at);
  const parsed = parseJson(text);
  const place = { line: line.place.line, column: columnOf(line.bytes, at), offset: line.place.offset + at };
  if (!parsed.ok) {
    // User text may look like a sentinel, so this cannot be an error.
    const detail = `looks like a Cirron sentinel but is no JSON: ${parsed.fault.reason}`;
    yield toProblem("warning", protocol, file, { code: "broken_sentinel", detail, place });
    return;
  }
  const { __cirron_event__: kind } = parsed.value as { __cirron_event__: unknown };
  if (kind !== "trace_batch") {
    tally.addRecord(protocol, typeof kind === "string" ? kind : "unknown");
    return;
  }
  const cursor = new JsonCursor(text, locatePointer(text, "/payload"));
  cursor.skipBlanks();
  const start = cursor.pos;
  cursor.skipValue();
  for (const problem of checkBatch(file, text.subarray(start, cursor.pos), tally)) yield { ...problem, ...place };
}

function toLinePlace(bytes: Uint8Array, offset: number): { line: number; column: number; offset: number } {
  let line = 1;
  let lineStart = 0;
  for (let i = 0; i < offset && i < bytes.length; i++) {
    if (bytes[i] !== 0x0a) continue;
    line++;
    lineStart = i + 1;
  }
  return { line, column: columnOf(bytes.subarray(lineStart), offset - lineStart), offset };
}
