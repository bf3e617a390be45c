// Calls the API by route name, with the types of the contract that the server implements.

import type { ErrorAnswer } from "#api/contract/error.ts";
import { paths, type RouteName } from "#api/contract/paths.ts";
import type { AnswerOf, Call } from "#api/contract/routes.ts";
import { toSegment } from "#api/contract/segment.ts";
import { given } from "#base/given.ts";
import { Exit, exitCodes } from "./exit.ts";

/** Bytes to send instead of a JSON body. */
export interface RawBody {
  readonly bytes: Uint8Array | AsyncIterable<Uint8Array>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A refusal by the server, in its own words. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  readonly answer: ErrorAnswer;
  readonly retryAfterS: number;
  constructor(status: number, answer: ErrorAnswer, retryAfterS: number) {
    super(answer.message);
    this.status = status;
    this.answer = answer;
    this.retryAfterS = retryAfterS;
  }
}

export interface Client {
  readonly url: string;
  call<N extends RouteName>(name: N, request: Call<N>): Promise<AnswerOf<N>>;
  /** The answer itself, for files and streams. */
  open<N extends RouteName>(name: N, request: Call<N>, options?: OpenOptions): Promise<Response>;
}

export interface OpenOptions {
  readonly raw?: RawBody;
  readonly signal?: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
}

interface AnyCall {
  readonly params?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
}

/** A request that is not answered in that time fails as one that the network lost, with a second more for each megabyte. */
export interface ClientLimits {
  readonly answerMs: number;
}

export function createClient(url: string, key: string, limits?: ClientLimits): Client {
  const open = async (name: RouteName, request: AnyCall, options: OpenOptions = {}): Promise<Response> => {
    const { raw } = options;
    const bytes = raw?.bytes instanceof Uint8Array ? raw.bytes.length : 0;
    const signal = limits ? withTimeout(options.signal, limits.answerMs + bytes / bytesPerMs) : options.signal;
    const headers: Record<string, string> = { ...options.headers, ...raw?.headers };
    if (key !== "") headers["authorization"] = `Bearer ${key}`;
    if (request.body !== undefined) headers["content-type"] = "application/json";
    const body = raw ? raw.bytes : request.body === undefined ? undefined : JSON.stringify(request.body);
    const streamed = body !== undefined && typeof body === "object" && Symbol.asyncIterator in body;
    const init = {
      ...{ method: paths[name].method, headers, redirect: "manual" },
      ...given({ signal, body: streamed ? ReadableStream.from(body) : body }),
      ...(streamed ? { duplex: "half" } : {}),
    };
    const response = await send(`${url}${toPath(name, request)}`, init as RequestInit, url, options.signal);
    // For readyz a 503 is an answer; from any other route it means that nothing was done.
    if (response.ok || (response.status === 503 && name === "readyz")) return response;
    throw await toApiError(response);
  };
  return {
    url,
    open: open as Client["open"],
    call: (async (name: RouteName, request: AnyCall) => {
      const response = await open(name, request);
      return response.json();
    }) as Client["call"],
  };
}

const bytesPerMs = 1000;

function withTimeout(signal: AbortSignal | undefined, ms: number): AbortSignal {
  const timeout = AbortSignal.timeout(Math.round(ms));
  return signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
}

async function send(address: string, init: RequestInit, url: string, signal?: AbortSignal): Promise<Response> {
  try {
    return await fetch(address, init);
  } catch (error) {
    if (signal?.aborted) throw error;
    const cause = (error as { cause?: { code?: string; message?: string } }).cause;
    throw new Exit(exitCodes.outage, `The server at ${url} does not answer (${cause?.code ?? String(error)}).`);
  }
}

async function toApiError(response: Response): Promise<ApiError> {
  const text = await response.text();
  let answer: ErrorAnswer;
  try {
    answer = JSON.parse(text) as ErrorAnswer;
  } catch {
    answer = { code: "unknown", message: text.slice(0, 500) || response.statusText, hint: "", at: null };
  }
  return new ApiError(response.status, answer, Number(response.headers.get("retry-after") ?? 0));
}

/** The path with its segments percent-encoded, and the query with lists as repeated names. */
export function toPath(name: RouteName, { params, query }: AnyCall): string {
  const { path: pattern } = paths[name];
  // Senders' paths are those of the protocols.
  const encode = pattern.startsWith("/api/v1/") ? toSegment : encodeSegment;
  const path = pattern
    .replace(/:(\w+)/g, (_, segment: string) => {
      const name = String(params?.[segment]);
      if (name === "") throw new Exit(exitCodes.usage, "An id or a name cannot be empty.");
      return encode(name);
    })
    .replace("*", () => String(params?.["*"]).split("/").map(encodeSegment).join("/"));
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query ?? {})) {
    if (value === undefined) continue;
    for (const one of Array.isArray(value) ? value : [value]) search.append(key, String(one));
  }
  const text = search.toString();
  return text === "" ? path : `${path}?${text}`;
}

/** A segment of dots, encoded or not, would lead to another route. */
function encodeSegment(text: string): string {
  if (!/^\.{1,2}$/.test(text)) return encodeURIComponent(text);
  const message = `${JSON.stringify(text)} cannot be part of a name.`;
  throw new ApiError(400, { code: "bad_name", message, hint: "", at: null }, 0);
}
