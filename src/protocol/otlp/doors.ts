// OTLP over HTTP. Exporters drop requests that are answered with 4xx, some even with 429, so one that must wait gets 503. A
// request succeeds once it is durable: which of its records are new is found out afterwards; which cannot be read is known
// from decoding.

import { atOnce, inTurns } from "#base/turns.ts";
import { decodeRequest, exportInputs, type OtlpExportInput } from "#intake/otlp/export-input.ts";
import type { RefusedInput } from "#intake/refused.ts";
import type { Fault } from "#model/fault.ts";
import { pieceBytesMax } from "#protocol/body-pieces.ts";
import type { IngestRoute } from "#protocol/facts.ts";
import { toLinesReply } from "#protocol/lines-reply.ts";
import type {
  HttpDoor,
  IngestRequest,
  Reply,
  RequestHead,
  Submission,
  TakenRequest,
  Trouble,
} from "#protocol/protocol.ts";
import { JsonRequest } from "#wire/otlp/json-request.ts";
import { ProtobufRequest } from "#wire/otlp/proto-request.ts";
import { type Encoding, encodeResponse, encodeStatus, mediaOf, statusCode } from "#wire/otlp/reply.ts";
import type { Signal } from "#wire/otlp/schema.ts";
import { claimsTraces, encodingOf } from "./claims.ts";

const routes = [
  ["otlpOwnTraces", "traces"],
  ["otlpMetrics", "metrics"],
  ["otlpOwnMetrics", "metrics"],
  ["otlpLogs", "logs"],
  ["otlpOwnLogs", "logs"],
] as const satisfies readonly (readonly [IngestRoute, Signal])[];

export const otlpDoors: readonly HttpDoor[] = [
  { ...doorOf("cirron", "traces"), claims: claimsTraces },
  ...routes.map(([route, signal]) => doorOf(route, signal)),
];

function doorOf(route: IngestRoute, signal: Signal): HttpDoor {
  return { route, take: (request) => takeExport(signal, request), toErrorReply };
}

/** The rejected records of a request so far. */
interface Tally {
  rejected: number;
  message: string;
}

/** A larger body is looked through in turns with other work. */
const bytesAtOnce = pieceBytesMax;

export async function takeExport(signal: Signal, request: IngestRequest): Promise<TakenRequest> {
  const encoding = encodingOf(request);
  const { arrival, body, headers, limits } = request;
  const named = headerOf(headers, "x-tributary-run");
  const about = {
    ...(named === "" ? arrival : { ...arrival, runOverride: named }),
    ...{ kind: exportInputs.kind, signal, mlflowRun: headerOf(headers, "x-mlflow-run-id") },
  };
  const tally: Tally = { rejected: 0, message: "" };
  const sent = encoding === "json" ? new JsonRequest(signal, body, limits.json) : new ProtobufRequest(signal, body);
  const steps = sent.refusalInSteps();
  return {
    refused: body.length > bytesAtOnce ? await inTurns(steps) : atOnce(steps),
    submissions: submitPieces(about, sent, request, tally),
    answerWhen: arrival.transport === "file" ? "applied" : "durable",
    // An import waits for the answer, and is told about every record.
    toReply: (receipt) =>
      arrival.transport === "file"
        ? toLinesReply(receipt, "offset")
        : toReply(encoding, 200, encodeResponse(encoding, signal, tally.rejected, tally.message)),
  };
}

type ExportHead = Omit<OtlpExportInput, "body">;

function* submitPieces(
  about: ExportHead,
  sent: JsonRequest | ProtobufRequest,
  { body, packed, limits }: IngestRequest,
  tally: Tally,
): Generator<Submission | null> {
  for (const piece of sent.pieces(pieceBytesMax)) {
    // Only a whole body can be kept as it was sent.
    const asSent = packed === undefined || piece !== body ? {} : { packed };
    yield piece === null ? null : submit({ ...about, ...asSent, body: piece }, limits, tally);
  }
  note(tally, sent.rejected, sent.faults);
  const { kind: _, signal: __, mlflowRun: ___, ...arrival } = about;
  for (const { code, detail, place, raw } of sent.faults) {
    const input: RefusedInput = {
      ...{ ...arrival, kind: "refused", protocol: "otlp", code, detail },
      ...{ place: JSON.stringify(place), body: raw },
    };
    yield { input };
  }
}

function submit(input: OtlpExportInput, limits: IngestRequest["limits"], tally: Tally): Submission {
  const decoded = decodeRequest(input, limits);
  note(tally, decoded.rejected, decoded.faults);
  return { input, decoded };
}

function note(tally: Tally, rejected: number, faults: readonly Fault[]): void {
  tally.rejected += rejected;
  const [first] = faults;
  if (tally.message === "" && first !== undefined)
    tally.message = `${first.detail}; what was rejected is kept as a fault and shown on the Integrity page`;
}

function headerOf(headers: RequestHead["headers"], name: string): string {
  const value = headers[name];
  return (Array.isArray(value) ? value[0] : value)?.trim() ?? "";
}

function toErrorReply({ status, message, retryAfterS }: Trouble, head: RequestHead): Reply {
  const encoding = encodingOf(head);
  if (retryAfterS === null)
    return toReply(encoding, status, encodeStatus(encoding, statusCode.invalidArgument, message));
  const body = encodeStatus(encoding, statusCode.unavailable, message);
  return toReply(encoding, 503, body, { "retry-after": String(Math.max(1, Math.ceil(retryAfterS))) });
}

function toReply(encoding: Encoding, status: number, body: Uint8Array, headers: Record<string, string> = {}): Reply {
  return { status, body, headers: { ...headers, "content-type": mediaOf[encoding] } };
}
