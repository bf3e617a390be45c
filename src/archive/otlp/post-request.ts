// Sends OTLP requests to another receiver over HTTP, as an exporter does: retries while the receiver asks to wait or does
// not answer, and never after a refusal.

import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { joinBytes } from "#base/join-bytes.ts";
import { toTarget } from "#base/redirect.ts";
import { decodeResponse, mediaOf, type PartialSuccess } from "#wire/otlp/reply.ts";
import type { Signal } from "#wire/otlp/schema.ts";
import type { OtlpRequest } from "./export-requests.ts";

const gzipBytes = promisify(gzip);

export interface Receiver {
  /** The base of its paths, as in OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface PostOptions {
  readonly signal: AbortSignal;
  /** How often a request is tried; default: until `signal` is aborted. */
  readonly attemptsMax?: number;
  /** Called when a try failed, with the time until the next one. */
  readonly onRetry?: (reason: string, afterMs: number) => void;
}

/** The receiver will never take this request. */
export class RequestRefused extends Error {
  override readonly name = "RequestRefused";
  readonly status: number;

  constructor(status: number, url: string, answer: string) {
    super(`${url} answered ${status}${answer === "" ? "" : `: ${answer}`}`);
    this.status = status;
  }
}

const recordsOf: Readonly<Record<Signal, string>> = { traces: "span", metrics: "data point", logs: "log record" };

/** For people; the receiver's own words are at the end. */
export function sayPartial({ url }: Receiver, signal: Signal, { rejected, message }: PartialSuccess): string {
  if (rejected === 0) return `${url} warns: ${message}`;
  const records = `${rejected} ${recordsOf[signal]}${rejected === 1 ? "" : "s"}`;
  return `${url} did not take ${records}${message === "" ? "" : `: ${message}`}`;
}

/** As the specification lists them. Exporters retry others too, without a guarantee. */
const retryable: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);
const firstWaitMs = 500;
const waitMsMax = 30_000;
const timeoutMs = 30_000;
const redirectsMax = 3;
/** Of an answer; the rest is not read. */
const answerBytesMax = 64 * 1024;

/**
 * What the receiver has to say about a request that it took; null when it took all of it. What it rejected is not sent
 * again, as the specification asks.
 */
export async function postRequest(
  receiver: Receiver,
  request: OtlpRequest,
  options: PostOptions,
): Promise<PartialSuccess | null> {
  const url = `${receiver.url.replace(/\/+$/, "")}/v1/${request.signal}`;
  const body = await gzipBytes(request.body);
  for (let attempt = 1; ; attempt++) {
    const answer = await tryOnce(url, receiver.headers, body, options.signal);
    if ("ok" in answer) return toPartialSuccess(request.signal, answer);
    const failed = answer;
    options.signal.throwIfAborted();
    if (attempt === options.attemptsMax) throw new Error(failed.reason);
    const waitMs = failed.afterMs ?? Math.min(waitMsMax, firstWaitMs * 2 ** (attempt - 1));
    options.onRetry?.(failed.reason, waitMs);
    await sleep(waitMs, undefined, { signal: options.signal });
  }
}

interface Taken {
  readonly ok: true;
  readonly media: string;
  readonly bytes: Uint8Array;
}

interface Failed {
  readonly reason: string;
  readonly afterMs?: number;
}

async function tryOnce(
  url: string,
  headers: Receiver["headers"],
  body: Uint8Array,
  signal: AbortSignal,
): Promise<Taken | Failed> {
  let answer: Response;
  try {
    answer = await post(url, headers, body, signal);
  } catch (error) {
    const { cause, message } = error as Error & { cause?: { code?: string; message?: string } };
    return { reason: `${url}: ${cause?.code ?? cause?.message ?? message}` };
  }
  const bytes = await readStart(answer);
  // An answer without its type is in the encoding of what was sent.
  if (answer.ok) return { ok: true, media: answer.headers.get("content-type") ?? mediaOf.protobuf, bytes };
  const reason = `${url} answered ${answer.status}`;
  // The address is wrong, and what is sent may wait until somebody sets it right.
  if (isRedirect(answer)) return { reason: `${reason}, a redirect to ${answer.headers.get("location") ?? "nowhere"}` };
  if (!retryable.has(answer.status)) {
    throw new RequestRefused(answer.status, url, toPlain(Buffer.from(bytes).toString()));
  }
  const after = Number(answer.headers.get("retry-after") ?? Number.NaN);
  return Number.isFinite(after)
    ? { reason, afterMs: Math.min(waitMsMax, Math.max(firstWaitMs, after * 1000)) }
    : { reason };
}

/**
 * 307 and 308 are followed where the headers may go. The others would turn the POST into a GET, whose answer says nothing
 * about what was sent.
 */
async function post(
  url: string,
  headers: Receiver["headers"],
  body: Uint8Array,
  signal: AbortSignal,
): Promise<Response> {
  let at = url;
  for (let hop = 0; ; hop++) {
    const answer = await fetch(at, {
      method: "POST",
      body: body as Uint8Array<ArrayBuffer>,
      headers: { ...headers, "content-type": "application/x-protobuf", "content-encoding": "gzip" },
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      redirect: "manual",
    });
    const location = answer.status === 307 || answer.status === 308 ? answer.headers.get("location") : null;
    const target = location === null ? null : toTarget(at, location);
    if (target === null || hop === redirectsMax) return answer;
    await answer.body?.cancel();
    at = target;
  }
}

function isRedirect({ status }: Response): boolean {
  return status >= 300 && status < 400;
}

/** The beginning of an answer, or as much of it as came. */
async function readStart({ body }: Response): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of body ?? []) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > answerBytesMax) break;
    }
  } catch {}
  return joinBytes(chunks);
}

function toPartialSuccess(signal: Signal, { media, bytes }: Taken): PartialSuccess | null {
  const [type = ""] = media.split(";");
  const encoding = (["json", "protobuf"] as const).find((one) => mediaOf[one] === type.trim().toLowerCase());
  const partial = encoding === undefined ? null : decodeResponse(encoding, signal, bytes);
  return (
    partial && {
      ...partial,
      message: partial.message
        .replaceAll(/\p{Cc}+/gu, " ")
        .trim()
        .slice(0, 300),
    }
  );
}

/** The part of an answer that people can read. */
function toPlain(text: string): string {
  return text
    .replaceAll(/[^\x20-\x7e]+/g, " ")
    .trim()
    .slice(0, 300);
}
