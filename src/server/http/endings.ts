// Requests that are ended from outside: the caller goes away, the key is revoked, or the server stops. In the last two
// cases there is still somebody to tell, so the reason of the abort is the refusal for them.

import type { FastifyReply, FastifyRequest } from "fastify";
import { Refusal } from "#api/refusal.ts";
import { StoreOutage } from "#store/outage.ts";
import type { KeyWatch } from "./key-watch.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Set for requests that may take long; null for the others. */
    ended: AbortSignal | null;
  }
}

/** How long an answer may take to end by itself after its key was revoked. */
const lastWordsMs = 250;

export interface Endings {
  /** Aborted with `refuseStopping` when the server begins to close: it ends what has no end of its own. */
  readonly draining: AbortSignal;
  readonly keys: KeyWatch;
}

export function watchEnd(request: FastifyRequest, reply: FastifyReply, { draining, keys }: Endings): AbortSignal {
  const gone = new AbortController();
  let cut: NodeJS.Timeout | undefined;
  const endWatch = keys.watch(request.caller.source, () => {
    gone.abort(refuseRevoked());
    // A caller who reads slowly, or not at all, would otherwise keep the answer open.
    cut = setTimeout(() => reply.raw.headersSent && reply.raw.destroy(), lastWordsMs);
  });
  reply.raw.once("close", () => {
    endWatch();
    clearTimeout(cut);
    gone.abort();
  });
  request.ended = AbortSignal.any([draining, gone.signal]);
  return request.ended;
}

/** The refusal for a request that failed because it was ended; undefined for one that failed by itself. */
export function toEnding(error: unknown, ended: AbortSignal | null): Refusal | undefined {
  const told: unknown = ended?.aborted ? ended.reason : undefined;
  if (!(told instanceof Refusal)) return undefined;
  const isCancelled = error instanceof StoreOutage && error.kind === "cancelled";
  return isCancelled || (error instanceof Error && error.name === "AbortError") ? told : undefined;
}

export function refuseStopping(): Refusal {
  return new Refusal("shutting_down", "The server is shutting down and could not finish this.", {
    hint: "Try again when it is back.",
    headers: { "retry-after": "1" },
  });
}

export function refuseRevoked(): Refusal {
  return new Refusal("key_wrong", "The key was revoked during this request.", {
    at: { part: "header", name: "authorization" },
    headers: { "www-authenticate": "Bearer" },
  });
}
