// Files of OTLP: requests as JSON, one a line as OpenTelemetry's own collector writes them or one in the whole file, and
// requests in protobuf, of which any number one after the other are one.

import { readFile } from "node:fs/promises";
import { type Detection, type FileHead, type FileKind, startsObject, sureness } from "#protocol/file-kind.ts";
import { LineReader } from "#protocol/reading/line-reader.ts";
import { newline, OnceReader, sendBytes } from "#protocol/reading/reader.ts";
import { ProtobufRequest } from "#wire/otlp/proto-request.ts";
import { toOneList, withoutPauses } from "#wire/otlp/request-pieces.ts";
import type { Signal } from "#wire/otlp/schema.ts";
import { checkJsonFile, checkJsonLines, checkProtobufFile } from "./check.ts";
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
  // A request that is spread over lines has none that is one.
  const [firstLine = ""] = text.trimStart().split("\n");
  const isSpread = text.includes("\n") && !firstLine.trimEnd().endsWith("}");
  return { kind: isSpread ? jsonFile : lineFile, sure: sureness.mark };
}

/** Always its own path: on the shared one it would have to be told apart again. */
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
      this.line++;
    }
  }

  private noteOther(): void {
    const message = "The line is no OTLP request in JSON.";
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
    // The server keeps what cannot be read, and says why.
    for (const { raw } of request.faults) await send(toOneList(raw));
  }
}
