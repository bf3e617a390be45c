// OTLP over gRPC, the default of many exporters: unary `Export` of the three services, on a port of its own. It is
// HTTP/2 with a frame around the message and the outcome in trailers, for which Node has everything needed. The same
// doors as over HTTP decide what becomes of a request.

import { once } from "node:events";
import { readFileSync } from "node:fs";
import {
  createSecureServer,
  createServer,
  type Http2SecureServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { Caller } from "#api/handler.ts";
import { Refusal } from "#api/refusal.ts";
import { nowNs } from "#base/clock.ts";
import { nextTurn } from "#base/turns.ts";
import type { Address } from "#config/kinds.ts";
import type { Config } from "#config/settings.ts";
import type { IngestRoute } from "#protocol/facts.ts";
import { doorsByRoute, type ProtocolDoor } from "#protocol/protocols.ts";
import { type Leave, smallBodyBytes } from "#server/body-queue.ts";
import { toBodyLimits, toDecodeLimits } from "#server/decode-limits.ts";
import { type Access, mayUse } from "#server/http/access.ts";
import { type BodyLimits, toEncoding, unpack, unpackedBytesOf, watchSpeed } from "#server/http/body.ts";
import { createSenderOf } from "#server/http/client-address.ts";
import { refuseRevoked } from "#server/http/endings.ts";
import { toRefusal } from "#server/http/errors.ts";
import { toRefused } from "#server/http/ingest-routes.ts";
import { type Busy, isBusy } from "#server/http/ports.ts";
import type { ServerOptions } from "#server/http/server-options.ts";
import type { Metrics } from "#server/metrics.ts";
import type { Share } from "#server/unfinished-bytes.ts";
import { ProtoWriter } from "#wire/otlp/proto-writer.ts";
import { statusCode } from "#wire/otlp/reply.ts";

export type GrpcOptions = Pick<ServerOptions, "config" | "intake" | "metrics" | "unfinished" | "queue" | "keyWatch">;

interface Desk extends GrpcOptions {
  readonly access: Access;
  readonly senderOf: ReturnType<typeof createSenderOf>;
}

/** The path of each service's one method → the route whose door takes it. */
const routes: Readonly<Record<string, IngestRoute>> = {
  "/opentelemetry.proto.collector.trace.v1.TraceService/Export": "otlpOwnTraces",
  "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export": "otlpOwnMetrics",
  "/opentelemetry.proto.collector.logs.v1.LogsService/Export": "otlpOwnLogs",
};

/** A call that ends with a status other than OK. */
class GrpcFailure extends Error {
  readonly code: number;
  readonly retryAfterS: number | null;

  constructor(code: number, message: string, retryAfterS: number | null = null) {
    super(message);
    this.code = code;
    this.retryAfterS = retryAfterS;
  }
}

/** Rejects when the address cannot be listened on. */
export async function openGrpcServer(listen: Address, options: GrpcOptions, access: Access) {
  const { config } = options;
  const doors = doorsByRoute();
  const desk: Desk = { ...options, access, senderOf: createSenderOf(config.trustedProxies) };
  const sessions = new Set<ServerHttp2Session>();
  const server = createListener(config);
  server.on("session", (session) => {
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
    // A peer that breaks the protocol, or goes away, ends its own session only.
    session.on("error", () => session.destroy());
  });
  server.on("stream", (stream, headers) => {
    stream.on("error", () => stream.destroy());
    stream.setTimeout(config.requestTimeoutMs, () => stream.close());
    const door = doors.get(routes[headers[":path"] ?? ""] as IngestRoute)?.[0];
    void answer(stream, headers, door, desk);
  });
  server.maxConnections = config.httpConnectionsMax;
  server.listen(listen.port, listen.host);
  await once(server, "listening");
  const bound = server.address() as { address: string; port: number };
  return {
    address: { host: bound.address, port: bound.port },
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const session of sessions) session.close();
      // Exporters never close their connection. Calls in flight have had their time.
      const cut = setTimeout(() => {
        for (const session of sessions) session.destroy();
      }, closeMs);
      await closed;
      clearTimeout(cut);
    },
  };
}

const closeMs = 1000;

function createListener(config: Config): Http2Server | Http2SecureServer {
  const settings = { maxConcurrentStreams: 100, initialWindowSize: 1024 * 1024, maxHeaderListSize: 32 * 1024 };
  if (config.tlsCert === "") return createServer({ settings });
  return createSecureServer({ settings, cert: readFileSync(config.tlsCert), key: readFileSync(config.tlsKey) });
}

async function answer(
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  door: ProtocolDoor | undefined,
  desk: Desk,
): Promise<void> {
  const holding: Holding = { share: desk.unfinished.open(), leave: () => undefined };
  try {
    const message = await takeCall(stream, headers, door, desk, holding);
    if (canAnswer(stream)) succeed(stream, message);
  } catch (error) {
    if (canAnswer(stream)) fail(stream, toFailure(error));
  } finally {
    holding.leave();
    holding.share.close();
  }
}

/** What a call holds until it is answered. */
interface Holding {
  readonly share: Share;
  leave: Leave;
}

/** Answering a closed stream would throw. */
function canAnswer(stream: ServerHttp2Stream): boolean {
  return !stream.destroyed && !stream.closed;
}

async function takeCall(
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  door: ProtocolDoor | undefined,
  desk: Desk,
  holding: Holding,
): Promise<Uint8Array> {
  const { config, intake, metrics } = desk;
  if (door === undefined) {
    stream.resume();
    throw new GrpcFailure(statusCode.unimplemented, "Only Export of OpenTelemetry's trace, metrics and logs services.");
  }
  const caller = identify(stream, headers, desk);
  const watch = watchKey(stream, caller, desk);
  const body = await readMessage(stream, headers, toBodyLimits(config), holding, desk).finally(watch.end);
  if (watch.isRevoked()) throw revoked;
  metrics.bytesIn.inc({ protocol: door.protocol.facts.name }, body.length);
  const arrival = {
    ...{ workspace: caller.workspace, transport: "grpc", source: caller.source },
    ...{ runOverride: null, imported: false, receivedNs: nowNs() },
  };
  const taken = await door.take({
    ...{ headers: { ...headers, "content-type": "application/x-protobuf" }, body, arrival, query: {} },
    limits: toDecodeLimits(config),
  });
  const refused = taken.refused === null ? null : toRefused(arrival, door, taken.refused);
  const submissions = refused === null ? taken.submissions : [{ input: refused }];
  const receipt = await intake.submit(submissions, taken.answerWhen, () => holding.leave());
  if (isBusy(receipt)) throw refuseBusy(metrics, receipt);
  if (taken.refused !== null) throw new GrpcFailure(statusCode.invalidArgument, taken.refused.detail);
  return taken.toReply(receipt).body as Uint8Array;
}

function refuseBusy(metrics: Metrics, { retryAfterS }: Busy): GrpcFailure {
  metrics.refused.inc({ reason: "busy" });
  return new GrpcFailure(statusCode.unavailable, "The store lags behind and there is no room.", retryAfterS);
}

function identify(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, { access, senderOf }: Desk): Caller {
  const sender = senderOf({ socket: stream.session?.socket ?? {}, headers });
  const caller = access.identify({ authorization: headers.authorization, cookie: undefined, sender });
  if (caller instanceof Refusal) {
    stream.resume();
    throw new GrpcFailure(statusCode.unauthenticated, caller.message);
  }
  if (mayUse(caller, "ingest")) return caller;
  stream.resume();
  throw new GrpcFailure(statusCode.permissionDenied, "This key lacks the scope “ingest”.");
}

const revoked = new GrpcFailure(statusCode.unauthenticated, refuseRevoked().message);

/** When a key is revoked, its calls are answered at once, however long the rest would take. */
function watchKey(stream: ServerHttp2Stream, { source }: Caller, { keyWatch }: Desk) {
  let isRevoked = false;
  const end = keyWatch.watch(source, () => {
    isRevoked = true;
    if (!canAnswer(stream)) return;
    fail(stream, revoked);
    stream.close();
  });
  return { end, isRevoked: () => isRevoked };
}

async function readMessage(
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  limits: BodyLimits,
  holding: Holding,
  { queue, metrics }: Desk,
): Promise<Uint8Array> {
  const { share } = holding;
  const chunks: Buffer[] = [];
  let length = 0;
  const endWatch = watchSpeed(
    () => length,
    () => stream.close(),
  );
  stream.once("close", endWatch);
  stream.once("end", endWatch);
  // A destroyed stream cannot be answered, so it is read through an iterator that leaves it alive.
  for await (const chunk of stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    length += chunk.length;
    const isTooLarge = length > limits.bytesMax + headBytes;
    if (!isTooLarge && share.hold(length)) {
      chunks.push(chunk);
      continue;
    }
    stream.resume();
    throw isTooLarge
      ? new GrpcFailure(statusCode.resourceExhausted, `The message is larger than ${limits.bytesMax} bytes.`)
      : new GrpcFailure(statusCode.unavailable, "The bodies that are arriving now take all the memory.", 1);
  }
  const message = parseGrpcBody(Buffer.concat(chunks, length));
  if (message === null) throw new GrpcFailure(statusCode.invalidArgument, "The call is not exactly one message.");
  const encoding = message.isCompressed ? toEncoding(headers["grpc-encoding"] as string | undefined) : "identity";
  if (encoding === null || (message.isCompressed && encoding === "identity"))
    throw new GrpcFailure(statusCode.unimplemented, "The message's compression is not known; gzip is.");
  // The length of a call is not announced, so it is known only now.
  const giveUpRoom = queue.admit(length, stream.session ?? stream);
  if (typeof giveUpRoom !== "function") throw refuseBusy(metrics, giveUpRoom);
  holding.leave = giveUpRoom;
  const bytes = unpackedBytesOf(message.bytes, encoding);
  if (bytes > smallBodyBytes) {
    const leavePlace = await queue.enter(bytes);
    holding.leave = () => {
      leavePlace();
      giveUpRoom();
    };
    await nextTurn();
  }
  return (await unpack(message.bytes, encoding, limits, share)).bytes;
}

const grpcHeaders = {
  ":status": 200,
  "content-type": "application/grpc+proto",
  "grpc-accept-encoding": "gzip,deflate,zstd",
};

function succeed(stream: ServerHttp2Stream, message: Uint8Array): void {
  stream.respond(grpcHeaders, { waitForTrailers: true });
  stream.once("wantTrailers", () => stream.sendTrailers({ "grpc-status": String(statusCode.ok) }));
  stream.end(toGrpcBody(message));
}

function fail(stream: ServerHttp2Stream, { code, message, retryAfterS }: GrpcFailure): void {
  const details = retryAfterS === null ? {} : { "grpc-status-details-bin": toRetryDetails(code, message, retryAfterS) };
  const status = { "grpc-status": String(code), "grpc-message": toGrpcText(message), ...details };
  if (stream.headersSent) stream.close();
  else stream.respond({ ...grpcHeaders, ...status }, { endStream: true });
}

function toFailure(error: unknown): GrpcFailure {
  if (error instanceof GrpcFailure) return error;
  const refusal = toRefusal(error);
  if (refusal === undefined) return new GrpcFailure(statusCode.internal, "The server failed.");
  const told = refusal.headers["retry-after"];
  if (told !== undefined || refusal.status >= 500)
    return new GrpcFailure(statusCode.unavailable, refusal.message, Number(told ?? 5));
  const code = refusal.status === 413 ? statusCode.resourceExhausted : statusCode.invalidArgument;
  return new GrpcFailure(code, refusal.message);
}

// gRPC's framing of a unary call: one message in each direction.
//
//   u8: 1 when the message is compressed · u32 big-endian length · message

/** What stands before the message. */
const headBytes = 5;

/** Null when the body is not exactly one message. */
function parseGrpcBody(body: Uint8Array) {
  if (body.length < headBytes) return null;
  const length = new DataView(body.buffer, body.byteOffset).getUint32(1);
  const flag = body[0] as number;
  if (flag > 1 || body.length !== headBytes + length) return null;
  return { isCompressed: flag === 1, bytes: body.subarray(headBytes) };
}

function toGrpcBody(message: Uint8Array): Uint8Array {
  const body = new Uint8Array(headBytes + message.length);
  new DataView(body.buffer).setUint32(1, message.length);
  body.set(message, headBytes);
  return body;
}

/** `grpc-message` is percent-encoded but for printable ASCII. */
function toGrpcText(text: string): string {
  return encodeURIComponent(text)
    .replaceAll("%20", " ")
    .replaceAll(/%(2[1-9A-F]|3[A-F]|40|5[BDE]|7[BCD])/g, (code) => decodeURIComponent(code));
}

/** google.rpc.Status with a RetryInfo in base64: when to try again. */
function toRetryDetails(code: number, message: string, retryAfterS: number): string {
  const retryInfo = new ProtoWriter();
  retryInfo.message(1, () => retryInfo.smallVarint(1, Math.max(1, Math.ceil(retryAfterS))));
  const out = new ProtoWriter();
  out.smallVarint(1, code);
  out.text(2, message);
  out.message(3, () => {
    out.text(1, "type.googleapis.com/google.rpc.RetryInfo");
    out.bytes(2, retryInfo.finish());
  });
  return Buffer.from(out.finish()).toString("base64");
}
