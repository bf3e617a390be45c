// Turns whatever went wrong with a request into the one error shape. An unforeseen error is a bug: it is logged with
// its stack and answered without it.

import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Refusal } from "#api/refusal.ts";
import { codeOf, DiskOutage } from "#base/disk-outage.ts";
import type { Log } from "#server/log.ts";
import { BlobOutage } from "#store/blobs/blob-store.ts";
import { StoreOutage } from "#store/outage.ts";
import { toEnding } from "./endings.ts";

export function sendRefusal(reply: FastifyReply, refusal: Refusal): FastifyReply {
  // Set for a file that could not be sent after all.
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
      // Nothing else reports a disk that fails the engine, or files that cannot be opened, while it only reads.
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

// The answer when something the server relies on fails: whether to try again, and when. None of this is a bug, so there
// is neither a 500 nor a stack in the log; `/readyz` and the log of the part itself report the failure once.

/** A full disk does not empty itself within a second; clients retry up to six times and double their waits. */
const diskRetryAfterS = 5;
const storeRetryAfterS = 1;

function refuseOutage(error: unknown): Refusal | undefined {
  if (isDiskFull(error)) {
    return new Refusal("disk_full", "The disk of the data folder is full.", {
      hint: "Free some space, then send it again; nothing of it was taken.",
      headers: { "retry-after": String(diskRetryAfterS) },
    });
  }
  if (error instanceof DiskOutage) {
    return new Refusal("journal_failed", "The journal cannot be written, so nothing can be accepted.", {
      hint: "Send it again later; the server's log names the file and the reason.",
    });
  }
  if (isDiskFailed(error)) {
    return new Refusal("disk_failed", "The server cannot open, read or write files at the moment.", {
      hint: "Try again in a second. If it persists, the server's log names the file, and `ulimit -n` shows how many may be open.",
      headers: { "retry-after": String(storeRetryAfterS) },
    });
  }
  if (error instanceof BlobOutage && error.retryable) {
    return new Refusal("blobs_unavailable", "The blob store does not answer at the moment.", {
      hint: "Send it again in a second.",
      headers: { "retry-after": String(storeRetryAfterS) },
    });
  }
  return error instanceof StoreOutage ? refuseStore(error) : undefined;
}

function refuseStore(outage: StoreOutage): Refusal | undefined {
  const headers = { "retry-after": String(storeRetryAfterS) };
  switch (outage.kind) {
    case "engine_down":
    case "closed":
      return new Refusal("store_unavailable", "The store does not answer at the moment.", {
        hint: "Try again in a second; input is still accepted and waits in the journal.",
        headers,
      });
    case "cancelled":
      return new Refusal("store_unavailable", "The store ended this query before it was answered.", {
        hint: "Try again in a second.",
        headers,
      });
    case "overloaded":
      return new Refusal("store_overloaded", "The store has no memory or no free slot for this at the moment.", {
        hint: "Try again later, or ask for less: a shorter window, fewer runs or keys.",
        headers,
      });
    case "timeout":
      return new Refusal("question_too_slow", "The store took longer than the limit.", {
        hint: "Ask for less: a shorter window, fewer runs or keys.",
      });
    case "too_large":
      return new Refusal("answer_too_large", "The answer is larger than the limit.", {
        hint: "Ask for less: a shorter window, fewer runs or keys.",
      });
    // The store refuses a statement of ours only because of a bug.
    default:
      return undefined;
  }
}

function isDiskFull(error: unknown): boolean {
  if (error instanceof DiskOutage || error instanceof BlobOutage) return error.kind === "disk_full";
  return ["ENOSPC", "EDQUOT"].includes(codeOf(error));
}

function isDiskFailed(error: unknown): boolean {
  return ["EIO", "EMFILE", "ENFILE", "EROFS"].includes(codeOf(error));
}
