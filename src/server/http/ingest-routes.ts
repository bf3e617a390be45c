// The routes that take traces. An answer is given only when the bytes are durable. Clients drop a batch for good on
// most 4xx, so a duplicate or an unknown run is a success, and a refused body is kept as a fault.

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { paths } from "#api/contract/paths.ts";
import { type RouteSchemas, schemas } from "#api/contract/routes.ts";
import { Refusal } from "#api/refusal.ts";
import { nowNs } from "#base/clock.ts";
import { given } from "#base/given.ts";
import { nextTurn } from "#base/turns.ts";
import type { Arrival } from "#intake/input.ts";
import type { DecodeLimits } from "#intake/input-kind.ts";
import type { RefusedInput } from "#intake/refused.ts";
import type { Fault } from "#model/fault.ts";
import type { IngestQuery, Protocol, Reply, RequestHead, Trouble } from "#protocol/protocol.ts";
import { doorsByRoute, type ProtocolDoor } from "#protocol/protocols.ts";
import { type BodyQueue, type Leave, smallBodyBytes } from "#server/body-queue.ts";
import { toBodyLimits, toDecodeLimits } from "#server/decode-limits.ts";
import type { Share } from "#server/unfinished-bytes.ts";
import { type AwaitPlace, type BodyLimits, BodyRefusal, type ReadBody, readBody, type WatchSender } from "./body.ts";
import { toRefusal } from "./errors.ts";
import { type Busy, isBusy } from "./ports.ts";
import { throwAway } from "./refused-bodies.ts";
import type { ServerOptions } from "./server-options.ts";

type IngestOptions = Pick<ServerOptions, "intake" | "unfinished" | "queue" | "metrics" | "keyWatch">;

interface Desk extends IngestOptions {
  readonly limits: BodyLimits;
  readonly decodeLimits: DecodeLimits;
}

/** The protocols are those of the registry, unless a test brings its own. */
export function addIngestRoutes(
  app: FastifyInstance,
  options: IngestOptions & Pick<ServerOptions, "config">,
  protocols?: readonly Protocol[],
): void {
  const desk = { ...options, limits: toBodyLimits(options.config), decodeLimits: toDecodeLimits(options.config) };
  for (const [name, doors] of doorsByRoute(protocols)) {
    const { method, path, scope } = paths[name];
    const { params, query: querystring }: RouteSchemas = schemas[name];
    app.route({
      method,
      url: path,
      config: { scope },
      schema: given({ querystring, params }),
      handler: (request, reply) => takeIn(request, reply, doors, desk),
    });
  }
}

/** The bytes are held until the answer is made. */
async function takeIn(
  request: FastifyRequest,
  reply: FastifyReply,
  doors: readonly ProtocolDoor[],
  desk: Desk,
): Promise<unknown> {
  const answered = Promise.withResolvers<void>();
  const holding = { share: desk.unfinished.open(), leave: leaveNothing, answered: answered.promise };
  const head = { headers: request.headers, body: noBytes };
  try {
    return send(reply, await takeBody(request, head, doors, desk, holding));
  } catch (error) {
    // An import from files is not a client of the protocol; it gets the words of the API.
    const isRead = (request.query as IngestQuery).source !== undefined;
    const { toErrorReply } = pick(doors, head);
    const refusal = isRead || toErrorReply === undefined ? undefined : toRefusal(error);
    if (toErrorReply === undefined || refusal === undefined) throw error;
    return send(reply, toErrorReply(toTrouble(refusal), head));
  } finally {
    holding.leave();
    holding.share.close();
    answered.resolve();
  }
}

const noBytes: Uint8Array = new Uint8Array(0);
function leaveNothing(): void {}

/** What a request holds until it is answered. */
interface Holding {
  readonly share: Share;
  leave: Leave;
  readonly answered: Promise<void>;
}

/** `head` gets the body as soon as there is one. */
async function takeBody(
  request: FastifyRequest,
  head: { readonly headers: RequestHead["headers"]; body: Uint8Array },
  doors: readonly ProtocolDoor[],
  { intake, limits, decodeLimits, metrics, keyWatch, queue }: Desk,
  holding: Holding,
): Promise<Reply> {
  const arrival = toArrival(request);
  let body: ReadBody;
  try {
    const announced = request.headers["content-length"];
    holding.leave = admit(request, queue, Number(announced ?? 0));
    const watchSender: WatchSender = (onGone) => keyWatch.watch(request.caller.source, onGone);
    const awaitPlace: AwaitPlace = (sentBytes, unpackedBytes) =>
      unpackedBytes <= smallBodyBytes
        ? null
        : enter(request, queue, holding, {
            bytes: unpackedBytes,
            unannounced: announced === undefined ? sentBytes : 0,
          });
    const isReleased = doors.every((door) => door.copiesBody === true);
    body = await readBody(request.raw, limits, holding.share, watchSender, awaitPlace, isReleased);
  } catch (error) {
    if (error instanceof Refusal) metrics.refused.inc({ reason: error.code });
    if (error instanceof BodyRefusal) {
      head.body = error.read;
      const raw = error.read.slice(0, keptBytesMax);
      const fault = { code: error.code as Fault["code"], detail: error.message, place: {}, raw };
      await intake.submit([{ input: toRefused(arrival, pick(doors, head), fault) }], "applied");
    }
    throw error;
  }
  const { bytes, packed } = body;
  head.body = bytes;
  const door = pick(doors, head);
  metrics.bytesIn.inc({ protocol: door.protocol.facts.name }, bytes.length);
  const query = request.query as IngestQuery;
  const sent = packed === undefined ? head : { ...head, packed };
  const { submissions, refused, answerWhen, toReply } = await door.take({
    ...sent,
    ...{ arrival, query, limits: decodeLimits },
  });
  // A record that is put off gets another position in the journal, known only once it is applied.
  const isAwaited = query.wait === "1";
  const release = door.copiesBody === true ? body.release : packed === undefined ? null : body.releaseSent;
  // The answer may need the body, and may be given before its records are applied.
  const onLetGo = release === null ? null : () => void holding.answered.then(release);
  const receipt = await (refused === null
    ? intake.submit(submissions, isAwaited ? "applied" : answerWhen, () => holding.leave(), onLetGo)
    : intake.submit([{ input: toRefused(arrival, door, refused) }], "applied"));
  if (isBusy(receipt)) {
    metrics.refused.inc({ reason: "busy" });
    throw refuseBusy(receipt);
  }
  if (isAwaited) await intake.queryable(receipt.position);
  if (refused !== null) throw toFaultRefusal(refused);
  return toReply(receipt);
}

/** The body of a refused request is read and thrown away, so that its sender hears the answer. */
function admit({ raw }: FastifyRequest, queue: BodyQueue, sentBytes: number): Leave {
  const admitted = queue.admit(sentBytes, raw.socket);
  if (typeof admitted === "function") return admitted;
  throwAway(raw);
  throw refuseBusy(admitted);
}

async function enter(
  request: FastifyRequest,
  queue: BodyQueue,
  holding: Holding,
  { bytes, unannounced }: { readonly bytes: number; readonly unannounced: number },
): Promise<void> {
  // Nobody knew of a body that did not say its length.
  const giveUpRoom = unannounced === 0 ? holding.leave : admit(request, queue, unannounced);
  holding.leave = giveUpRoom;
  const leavePlace = await queue.enter(bytes);
  holding.leave = () => {
    leavePlace();
    giveUpRoom();
  };
  await nextTurn();
}

/** Used when an outage does not say: long enough for a disk or a store to come back. */
const outageRetryAfterS = 5;

function toTrouble({ status, message, headers }: Refusal): Trouble {
  const told = headers["retry-after"];
  const retryAfterS = told === undefined ? (status >= 500 ? outageRetryAfterS : null) : Number(told);
  return { status, message, retryAfterS };
}

function send(reply: FastifyReply, { status, body, headers = {} }: Reply): unknown {
  reply.code(status).headers(headers);
  return body instanceof Uint8Array ? Buffer.from(body.buffer, body.byteOffset, body.length) : body;
}

function pick(doors: readonly ProtocolDoor[], head: RequestHead): ProtocolDoor {
  return doors.find((door) => door.claims?.(head) ?? true) ?? (doors[0] as ProtocolDoor);
}

export function toArrival(request: FastifyRequest): Arrival {
  const { caller } = request;
  const { imported, source, run, wrapper } = request.query as IngestQuery;
  return {
    workspace: caller.workspace,
    transport: wrapper !== undefined ? "run" : source !== undefined ? "file" : "http",
    // A folder has a prefix unlike a key's, so that nobody can pass for someone else's key.
    source: source === undefined ? caller.source : `folder:${source}`,
    runOverride: (request.params as { run?: string }).run ?? (run || null),
    imported: imported === "1",
    // As precise as possible, because it tells the batches of a run apart.
    receivedNs: nowNs(),
  };
}

// A fault shows where a client went wrong; the rest of a body beyond the limit would not tell more.
const keptBytesMax = 64 * 1024;

export function toRefused(
  arrival: Arrival,
  { protocol }: ProtocolDoor,
  { code, detail, place, raw: body }: Fault,
): RefusedInput {
  return {
    ...arrival,
    kind: "refused",
    protocol: protocol.facts.name,
    code,
    detail,
    place: JSON.stringify(place),
    body,
  };
}

function toFaultRefusal({ code, detail, place: { offset, pointer } }: Fault): Refusal {
  return new Refusal(code, detail, {
    hint: "The body is kept as a fault; see the Integrity page.",
    at: { part: "body", ...given({ name: pointer, offset }) },
  });
}

/**
 * By the seconds after which to retry. They are reused because under overload most errors are these, and each new one
 * would capture its stack.
 */
const busyRefusals = new Map<number, Refusal>();

export function refuseBusy({ retryAfterS }: Busy): Refusal {
  const seconds = Math.max(1, Math.ceil(retryAfterS));
  let refusal = busyRefusals.get(seconds);
  if (refusal === undefined) {
    refusal = new Refusal("busy", "The store lags behind and there is no room for more.", {
      hint: "Send it again after the time in Retry-After; nothing was taken.",
      headers: { "retry-after": String(seconds) },
    });
    busyRefusals.set(seconds, refusal);
  }
  return refusal;
}
