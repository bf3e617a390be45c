// Files of OTLP: requests as JSON, one per line as OpenTelemetry's own collector writes them or one per file, and requests in
// protobuf, of which several in a row are one.

import { readFile } from "node:fs/promises";
import { defaultJsonLimits } from "#base/json/value.ts";
import type { Fault } from "#model/fault.ts";
import { pieceBytesMax } from "#protocol/body-pieces.ts";
import {
  type CheckedFile,
  type CheckOptions,
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
import { newline, OnceReader, sendBytes } from "#protocol/reading/reader.ts";
import { decodeExport } from "#wire/otlp/decode.ts";
import { JsonRequest } from "#wire/otlp/json-request.ts";
import { toRoleOf } from "#wire/otlp/meaning.ts";
import { ProtobufRequest } from "#wire/otlp/proto-request.ts";
import { toOneList, withoutPauses } from "#wire/otlp/request-pieces.ts";
import type { Signal } from "#wire/otlp/schema.ts";
import type { SplitLine } from "#wire/semantiva/lines.ts";
import { otlpFacts } from "./facts.ts";
import { signalOfName, signalOfText } from "./signal-of.ts";

const lineFile: FileKind = {
  name: "otlp_lines",
  read: (file, options) => new JsonLineReader(file, options),
  check: checkJsonLines,
};

const jsonFile: FileKind = {
  name: "otlp_json",
  read: (file, options) => new JsonFileReader(file, options),
  check: checkJsonFile,
};

const protobufFile: FileKind = {
  name: "otlp_protobuf",
  read: (file, options) => new ProtobufFileReader(file, options),
  check: checkProtobufFile,
};

export function detectOtlp({ name, text }: FileHead): Detection | null {
  if (signalOfName(name) !== null) return { kind: protobufFile, sure: sureness.name };
  if (!startsObject(text) || signalOfText(text) === null) return null;
  // If one request is spread over several lines, no line is a request by itself.
  const [firstLine = ""] = text.trimStart().split("\n");
  const isSpread = text.includes("\n") && !firstLine.trimEnd().endsWith("}");
  return { kind: isSpread ? jsonFile : lineFile, sure: sureness.mark };
}

/** Always OTLP's own paths: on the shared one, requests would have to be told apart again. */
export const routeOf = { traces: "otlpOwnTraces", metrics: "otlpOwnMetrics", logs: "otlpOwnLogs" } as const;

class JsonLineReader extends LineReader {
  protected async take(bytes: Buffer): Promise<void> {
    const { path, source } = this.file;
    for (let start = 0; start < bytes.length; ) {
      const end = bytes.indexOf(newline, start) + 1 || bytes.length;
      const line = bytes.subarray(start, end);
      start = end;
      const signal = signalOfText(line.toString("latin1"));
      if (signal !== null) await this.options.sender.send({ route: routeOf[signal], file: path, source }, line);
      else if (line.toString().trim() !== "") this.noteOther();
      if (line.at(-1) === newline) this.line++;
    }
  }

  private noteOther(): void {
    const message = "The line is not an OTLP request in JSON.";
    this.options.sender.note({ file: this.file.path, line: this.line, code: "otlp_not_export", message });
  }
}

class JsonFileReader extends OnceReader {
  protected async send(): Promise<void> {
    const { path, source } = this.file;
    const bytes = await readFile(path);
    const signal = signalOfText(bytes.toString("latin1"));
    if (signal !== null) await this.options.sender.send({ route: routeOf[signal], file: path, source }, bytes);
  }
}

class ProtobufFileReader extends OnceReader {
  protected async send(): Promise<void> {
    const { path, source } = this.file;
    const signal = signalOfName(path) as Signal;
    const bytes = await readFile(path);
    const request = new ProtobufRequest(signal, bytes, { recordsMax: Number.POSITIVE_INFINITY });
    const send = (body: Uint8Array) => this.options.sender.send({ route: routeOf[signal], file: path, source }, body);
    if (request.refusal() !== null) {
      await send(bytes);
      return;
    }
    for (const piece of withoutPauses(request.pieces(sendBytes))) await send(piece);
    // The server keeps lists that cannot be read, and says why.
    for (const { raw } of request.faults) await send(toOneList(raw));
  }
}

// How `tributary check` looks at OTLP files: it reads every request and every record as the server does.

const protocol = otlpFacts.name;
const roleOf = toRoleOf([]);
const recordName = { traces: "span", metrics: "point", logs: "log" } as const;

async function* checkJsonLines(file: CheckedFile, options: CheckOptions, tally: Tally): AsyncGenerator<Problem> {
  for await (const line of splitLines(file.chunks())) yield* checkLine(file.path, line, options, tally);
}

function* checkLine(path: string, line: SplitLine, options: CheckOptions, tally: Tally): Generator<Problem> {
  const place = { line: line.place.line, column: 1, offset: line.place.offset };
  if (line.kind === "too_long") return;
  for (const fault of checkJson(line.bytes, options, tally))
    yield { ...toProblem("error", protocol, path, fault), ...place };
}

async function* checkJsonFile(file: CheckedFile, options: CheckOptions, tally: Tally): AsyncGenerator<Problem> {
  for (const fault of checkJson(await readWhole(file), options, tally))
    yield toProblem("error", protocol, file.path, fault);
}

function* checkJson(bytes: Uint8Array, { limits = defaultJsonLimits }: CheckOptions, tally: Tally): Generator<Fault> {
  const signal = signalOfText(Buffer.from(bytes).toString("latin1")) ?? "traces";
  yield* checkRequest(signal, new JsonRequest(signal, bytes, limits), tally);
}

async function* checkProtobufFile(file: CheckedFile, _: CheckOptions, tally: Tally): AsyncGenerator<Problem> {
  const signal = signalOfName(file.path) as Signal;
  const request = new ProtobufRequest(signal, await readWhole(file), { recordsMax: Number.POSITIVE_INFINITY });
  for (const fault of checkRequest(signal, request, tally)) yield toProblem("error", protocol, file.path, fault);
}

function* checkRequest(signal: Signal, request: JsonRequest | ProtobufRequest, tally: Tally): Generator<Fault> {
  const refusal = request.refusal();
  if (refusal !== null) {
    yield refusal;
    return;
  }
  for (const piece of withoutPauses(request.pieces(pieceBytesMax))) yield* checkPiece(signal, piece, tally);
  yield* request.faults;
}

function* checkPiece(signal: Signal, piece: Uint8Array, tally: Tally): Generator<Fault> {
  const decoded = decodeExport(signal, piece, { roleOf });
  if (!decoded.ok) {
    yield decoded.refusal;
    return;
  }
  for (let record = 0; record < decoded.request.columns.length; record++) tally.addRecord(protocol, recordName[signal]);
  yield* decoded.request.faults;
}
