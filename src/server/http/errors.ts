// Turns whatever a request ran into into the one error shape. What we did not foresee is a bug of ours: it is logged
// with its stack and answered without it.

import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Refusal } from "#api/refusal.ts";
import type { Log } from "#server/log.ts";
import { StoreOutage } from "#store/outage.ts";
import { toEnding } from "./endings.ts";
import { refuseOutage } from "./outages.ts";

export function sendRefusal(reply: FastifyReply, refusal: Refusal): FastifyReply {
  // Of a file that was announced and could not be given.
  reply.removeHeader("content-disposition");
  return reply.code(refusal.status).headers(refusal.headers).type("application/json").send(refusal.toAnswer());
}

export function toRefusal(error: unknown): Refusal | undefined {
  if (error instanceof Refusal) return error;
  const { code, statusCode, message } = error as Partial<FastifyError>;
  switch (code) {
    case "FST_ERR_CTP_INVALID_MEDIA_TYPE":
      return new Refusal("media_unknown", "This route takes JSON.", {
        hint: "Send `Content-Type: application/json`.",
        at: { part: "header", name: "content-type" },
      });
    case "FST_ERR_CTP_EMPTY_JSON_BODY":
    case "FST_ERR_CTP_INVALID_JSON_BODY":
    case "FST_ERR_CTP_INVALID_CONTENT_LENGTH":
      return new Refusal("body_syntax", "The body is not JSON.", { at: { part: "body" } });
    case "FST_ERR_BAD_URL":
      return new Refusal("request_invalid", "The address is not UTF-8 with percent-encoding.");
    case "FST_ERR_MAX_PARAM_LENGTH":
      return new Refusal("request_invalid", "A name in the address is longer than the limit.", { status: 414 });
    default:
      if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
        return new Refusal("request_invalid", message ?? "The request is not allowed.", { status: statusCode });
      }
      return refuseOutage(error);
  }
}

export function handleErrors(app: FastifyInstance, log: Log): void {
  app.setErrorHandler((error, request: FastifyRequest, reply) => {
    const refusal = toEnding(error, request.ended) ?? toRefusal(error);
    if (refusal) {
      // Nobody else reports a disk that fails the engine, or files it may not open, while it only reads.
      if (error instanceof StoreOutage && error.kind === "overloaded")
        log.warn({ err: error, url: request.routeOptions.url }, "the store could not answer");
      if (refusal.code === "disk_failed")
        log.warn({ err: error, url: request.routeOptions.url }, "the system refused a file");
      return sendRefusal(reply, refusal);
    }
    // A caller that went away in the middle of an answer is no failure of ours.
    if (reply.raw.destroyed || reply.raw.socket?.destroyed === true) {
      log.debug({ method: request.method, url: request.routeOptions.url }, "the caller went away");
      return reply;
    }
    log.error({ err: error, method: request.method, url: request.routeOptions.url }, "a request failed");
    return sendRefusal(
      reply,
      new Refusal("internal", "The server failed.", {
        hint: "Its log says why.",
      }),
    );
  });
}
