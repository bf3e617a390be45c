// Trace streams, under any of the names that the driver gives them.

import { locatePointer } from "#base/json/pointer.ts";
import { oddity } from "#base/json/value.ts";
import { parseRfc3339Ns } from "#base/rfc3339.ts";
import {
  type CheckOptions,
  type Detection,
  type FileHead,
  type FileKind,
  splitLines,
  startsObject,
  sureness,
} from "#protocol/file-kind.ts";
import { type Problem, type Severity, type Tally, toProblem } from "#protocol/finding.ts";
import { LineReader } from "#protocol/reading/line-reader.ts";
import { newline } from "#protocol/reading/reader.ts";
import { decodeLine, type Message } from "#wire/semantiva/decode.ts";
import { toPlace } from "#wire/semantiva/decode-lines.ts";
import { defaultSplitLimits, isBlank, type SplitLine } from "#wire/semantiva/lines.ts";
import { semantivaFacts } from "./facts.ts";

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

// A Semantiva trace stream, line by line.

const protocol = semantivaFacts.name;

async function* checkLines(
  file: string,
  chunks: AsyncIterable<Uint8Array>,
  options: CheckOptions,
  tally: Tally,
): AsyncGenerator<Problem> {
  const check = new LineCheck(file, options, tally);
  const { lineBytesMax = defaultSplitLimits.lineBytesMax } = options;
  for await (const line of splitLines(chunks, { lineBytesMax })) yield* check.take(line);
}

class LineCheck {
  private readonly file: string;
  private readonly options: CheckOptions;
  private readonly tally: Tally;

  constructor(file: string, options: CheckOptions, tally: Tally) {
    this.file = file;
    this.options = options;
    this.tally = tally;
  }

  *take(line: SplitLine): Generator<Problem> {
    if (line.kind === "too_long") {
      const detail = `the line has ${line.lengthBytes} bytes, more than a record may have`;
      yield this.problem("error", line, "line_too_long", detail, 0, "");
      return;
    }
    if (isBlank(line.bytes)) return;
    const { registry, strict, limits } = this.options;
    const strictness = strict ? "document" : "driver";
    const decoded = decodeLine(line.bytes, registry, {
      strictness,
      all: true,
      ...(limits === undefined ? {} : { limits }),
    });
    if (!decoded.ok) {
      for (const { code, detail, offset, pointer } of decoded.faults) {
        const torn = !line.ended && code === "line_not_json";
        const what = torn ? `the file ends inside a line: ${detail}` : detail;
        yield this.problem("error", line, torn ? "line_torn" : code, what, offset, pointer);
      }
      return;
    }
    this.tally.addRecord(protocol, decoded.message.type);
    yield* this.remark(line, decoded.message);
  }

  /** Remarks on what is taken, but not as the document has it. */
  private *remark(line: SplitLine & { kind: "line" }, message: Message): Generator<Problem> {
    const { strict = false } = this.options;
    if (!message.known) {
      const detail = `no schema for record type ${JSON.stringify(message.type)}; only its header was checked`;
      yield this.problem("warning", line, "unknown_type", detail, 0, "/record_type");
    }
    if (!message.hasHeader && this.saysFirst("headerless")) {
      const detail = `${message.type} lines have no header run_id, as the driver writes them; --strict refuses them`;
      yield this.problem("note", line, "headerless", detail, 0, "");
    }
    if ((message.oddities & oddity.nonFinite) !== 0 && (this.saysFirst("non_finite") || strict)) {
      const { offset, literal } = findNonFinite(line.bytes);
      const detail = `${literal} is not JSON${strict ? "" : ", though the driver writes it; --strict refuses it"}`;
      yield this.problem(strict ? "error" : "note", line, "non_finite", detail, offset, "");
    }
    if ((message.oddities & oddity.duplicateKeys) !== 0) {
      yield this.problem("warning", line, "duplicate_key", "a key stands twice in one object; the last counts", 0, "");
    }
    const { timestamp, run_id: headerRun } = message.record;
    if (message.hasHeader && headerRun !== message.runId) {
      const detail = `the header says run ${JSON.stringify(headerRun)}, the record ${JSON.stringify(message.runId)}`;
      yield this.problem("warning", line, "run_id_mismatch", detail, 0, "/run_id");
    }
    if (typeof timestamp === "string" && parseRfc3339Ns(timestamp) === undefined) {
      const detail = `timestamp ${JSON.stringify(timestamp)} is not an RFC 3339 time`;
      yield this.problem("warning", line, "bad_time", detail, 0, "/timestamp");
    }
  }

  /** Whether a remark is made for the first time: each is made once for all files. */
  private saysFirst(remark: string): boolean {
    const { said } = this.options;
    const key = `${protocol} ${remark}`;
    if (said.has(key)) return false;
    said.add(key);
    return true;
  }

  private problem(
    severity: Severity,
    line: SplitLine,
    code: string,
    detail: string,
    offset: number,
    pointer: string,
  ): Problem {
    const bytes = line.kind === "line" ? line.bytes : line.head;
    const at = offset === 0 && pointer !== "" ? locatePointer(bytes, pointer) : offset;
    const place = toPlace(line.place, "", bytes, at, pointer);
    return toProblem(severity, protocol, this.file, { code, detail, place });
  }
}

/** The first NaN or Infinity literal in a text that is JSON except for these. */
function findNonFinite(bytes: Uint8Array): { readonly offset: number; readonly literal: string } {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
  const tokens = text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"|NaN|-?Infinity/g);
  const found = tokens.find(([token]) => !token.startsWith('"'));
  return { offset: found?.index ?? 0, literal: found?.[0] ?? "a non-finite number" };
}
