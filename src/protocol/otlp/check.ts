// What `tributary check` says of OTLP files: every request and every record in it, read as the server reads it.

import { defaultJsonLimits } from "#base/json/value.ts";
import type { Fault } from "#model/fault.ts";
import { pieceBytesMax } from "#protocol/body-pieces.ts";
import { type CheckedFile, type CheckOptions, readWhole, splitLines } from "#protocol/file-kind.ts";
import { type Problem, type Tally, toProblem } from "#protocol/finding.ts";
import { decodeExport } from "#wire/otlp/decode.ts";
import { JsonRequest } from "#wire/otlp/json-request.ts";
import { toRoleOf } from "#wire/otlp/meaning.ts";
import { ProtobufRequest } from "#wire/otlp/proto-request.ts";
import { withoutPauses } from "#wire/otlp/request-pieces.ts";
import type { Signal } from "#wire/otlp/schema.ts";
import type { SplitLine } from "#wire/semantiva/lines.ts";
import { otlpFacts } from "./facts.ts";
import { signalOfName, signalOfText } from "./signal-of.ts";

const protocol = otlpFacts.name;
const roleOf = toRoleOf([]);
const recordName = { traces: "span", metrics: "point", logs: "log" } as const;

export async function* checkJsonLines(file: CheckedFile, options: CheckOptions, tally: Tally): AsyncGenerator<Problem> {
  for await (const line of splitLines(file.chunks())) yield* checkLine(file.path, line, options, tally);
}

function* checkLine(path: string, line: SplitLine, options: CheckOptions, tally: Tally): Generator<Problem> {
  const place = { line: line.place.line, column: 1, offset: line.place.offset };
  if (line.kind === "too_long") return;
  for (const fault of checkJson(line.bytes, options, tally))
    yield { ...toProblem("error", protocol, path, fault), ...place };
}

export async function* checkJsonFile(file: CheckedFile, options: CheckOptions, tally: Tally): AsyncGenerator<Problem> {
  for (const fault of checkJson(await readWhole(file), options, tally))
    yield toProblem("error", protocol, file.path, fault);
}

function* checkJson(bytes: Uint8Array, { limits = defaultJsonLimits }: CheckOptions, tally: Tally): Generator<Fault> {
  const signal = signalOfText(Buffer.from(bytes).toString("latin1")) ?? "traces";
  yield* checkRequest(signal, new JsonRequest(signal, bytes, limits), tally);
}

export async function* checkProtobufFile(file: CheckedFile, _: CheckOptions, tally: Tally): AsyncGenerator<Problem> {
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
