// Requests that are ended from outside: their caller goes away, their key is revoked, or the server stops. For the last
// two there is still somebody to tell, so the reason of the abort is the refusal that they get.

import type { FastifyReply, FastifyRequest } from "fastify";
import { Refusal } from "#api/refusal.ts";
import { StoreOutage } from "#store/outage.ts";
import type { KeyWatch } from "./key-watch.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Of a request that takes its time; null for the others. */
    ended: AbortSignal | null;
  }
}

/** For an answer to end by itself, once nobody may have it any more. */
const lastWordsMs = 250;

export interface Endings {
  /** Aborted with `refuseStopping` when the server begins to close: what has no end of its own ends then, so that it can. */
  readonly draining: AbortSignal;
  readonly keys: KeyWatch;
}

export function watchEnd(request: FastifyRequest, reply: FastifyReply, { draining, keys }: Endings): AbortSignal {
  const gone = new AbortController();
  let cut: NodeJS.Timeout | undefined;
  const endWatch = keys.watch(request.caller.source, () => {
    gone.abort(refuseRevoked());
    // Whoever reads slowly, or not at all, would keep an answer that has begun, with the rest of it.
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

/** What to say of a request that failed because it was ended; undefined for one that failed by itself. */
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
