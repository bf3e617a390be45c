// The query routes: each handler of the API room, behind its declared path, scope and schemas.

import { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply } from "fastify";
import type { RouteName } from "#api/contract/paths.ts";
import { type RouteSchemas, schemas } from "#api/contract/routes.ts";
import { fromSegment } from "#api/contract/segment.ts";
import { FileBody, type Handler, type Handlers, JsonBody } from "#api/handler.ts";
import { encodeTexts } from "#archive/encode-texts.ts";
import { formatInSteps } from "#base/json/format-in-steps.ts";
import { inShortPieces, lengthOf, type Texts } from "#base/json/texts.ts";
import { inTurns } from "#base/turns.ts";
import { addRoute } from "./add-route.ts";
import { type Endings, watchEnd } from "./endings.ts";
import { toAttachmentHeaders } from "./headers.ts";

export function addApiRoutes(app: FastifyInstance, handlers: Handlers, endings: Endings): void {
  for (const name of Object.keys(handlers) as RouteName[]) {
    const handler = handlers[name] as Handler<RouteName>;
    const status = (schemas[name] as RouteSchemas).status ?? 200;
    addRoute(app, name, async (request, reply) => {
      const signal = watchEnd(request, reply, endings);
      const { query, body, caller } = request;
      const params = toNames(request.params);
      const header = request.headers["last-event-id"];
      const lastEventId = typeof header === "string" ? header : undefined;
      const answer = await handler({ params, query, body, caller, signal, lastEventId } as never);
      reply.code(status);
      return send(reply, answer);
    });
  }
}

/** The API names things by path segments; the rest of a path, `*`, is the key of a file as it is. */
function toNames(params: unknown): unknown {
  const entries = Object.entries(params as Readonly<Record<string, unknown>>);
  return Object.fromEntries(
    entries.map(([key, value]) => [key, key !== "*" && typeof value === "string" ? fromSegment(value) : value]),
  );
}

async function send(reply: FastifyReply, answer: unknown): Promise<unknown> {
  if (answer === undefined || answer === null) return answer;
  if (!(answer instanceof FileBody)) {
    reply.type("application/json; charset=utf-8");
    return toJsonText(answer instanceof JsonBody ? answer.body : await inTurns(formatInSteps(answer, JSON.stringify)));
  }
  reply.type(answer.type);
  if (answer.name !== null) reply.headers(toAttachmentHeaders(answer.name));
  if (answer.type.startsWith("text/event-stream")) {
    // A proxy that collects an event stream before passing it on would make it anything but live.
    reply.header("x-accel-buffering", "no");
    reply.raw.socket?.setNoDelay(true);
  }
  const { body } = answer;
  if (typeof body === "string" || body instanceof Uint8Array) return body;
  return Readable.from(body, { objectMode: false });
}

/** A longer answer is streamed instead of joined. */
const longAnswerChars = 1024 * 1024;

function toJsonText(body: JsonBody["body"]): string | Readable {
  if (typeof body === "string") return body;
  if (!Array.isArray(body)) return Readable.from(body as AsyncIterable<Uint8Array>, { objectMode: false });
  const texts: Texts = body;
  if (lengthOf(texts) <= longAnswerChars) return texts.join("");
  return Readable.from(encodeTexts(inShortPieces(texts)), { objectMode: false });
}
