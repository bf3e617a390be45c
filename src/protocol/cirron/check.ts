// Cirron batches: a spool file, or the sentinel lines in captured output.

import { basename } from "node:path";
import { JsonCursor } from "#base/json/cursor.ts";
import { parseJson } from "#base/json/parse.ts";
import { locatePointer } from "#base/json/pointer.ts";
import { splitLines } from "#protocol/file-kind.ts";
import { type Problem, type Tally, toProblem } from "#protocol/finding.ts";
import { decodeBatch } from "#wire/cirron/decode.ts";
import { parseSpoolName } from "#wire/cirron/spool-name.ts";
import { columnOf, type SplitLine } from "#wire/semantiva/lines.ts";
import { cirronFacts } from "./facts.ts";

const protocol = cirronFacts.name;
const marker = Buffer.from('{"__cirron_event__"');

export function* checkBatch(file: string, bytes: Uint8Array, tally: Tally): Generator<Problem> {
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

/** Sentinels stand anywhere in a line, since a program may have printed without a newline before them. */
export async function* checkSentinels(
  file: string,
  chunks: AsyncIterable<Uint8Array>,
  tally: Tally,
): AsyncGenerator<Problem> {
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
