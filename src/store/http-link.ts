// One HTTP request to a ClickHouse server, or to the embedded engine on its socket: the same call for both.

import type { ClientRequest, IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { HttpAgent, requestHttp } from "#base/node-http.ts";
import { outageOfAnswer, StoreOutage } from "./outage.ts";

export interface LinkOptions {
  /** Of the server; for a socket only its path part is used. */
  readonly url: URL;
  readonly socketPath?: string;
}

interface LinkRequest {
  readonly user: string;
  readonly password: string;
  /** `query`, settings and `param_…`. */
  readonly search: URLSearchParams;
  readonly body: Uint8Array | string;
  readonly signal?: AbortSignal | undefined;
  /** How long the store may be silent before it counts as gone; 0 for ever. */
  readonly silenceMsMax: number;
  /** Called when the embedded engine says that the query's turn has come. */
  readonly onBegun?: (() => void) | undefined;
}

export interface HttpLink {
  /** The answer, once its status says success; throws a StoreOutage otherwise. */
  send(request: LinkRequest): Promise<IncomingMessage>;
  close(): void;
}

const socketsMax = 64;

export function createLink({ url, socketPath }: LinkOptions): HttpLink {
  const isTls = url.protocol === "https:";
  const options = { keepAlive: true, maxSockets: socketsMax, ...(socketPath === undefined ? {} : { socketPath }) };
  const agent = isTls ? new HttpsAgent(options) : new HttpAgent(options);
  const open = isTls ? httpsRequest : requestHttp;
  return {
    send: (request) =>
      new Promise((resolve, reject) => {
        const { signal } = request;
        const target = new URL(url);
        for (const [name, value] of request.search) target.searchParams.set(name, value);
        const call: ClientRequest = open(target, {
          agent,
          ...(socketPath === undefined ? {} : { socketPath }),
          method: "POST",
          headers: {
            "X-ClickHouse-User": request.user,
            "X-ClickHouse-Key": request.password,
            "Content-Length": Buffer.byteLength(request.body),
          },
          ...(signal === undefined ? {} : { signal }),
        });
        call.on("error", (error) => reject(toLinkOutage(error, signal)));
        call.setTimeout(request.silenceMsMax, () => call.destroy(silentOutage(request.silenceMsMax)));
        if (request.onBegun !== undefined) call.on("information", request.onBegun);
        call.on("response", (response) => {
          // From now on silence counts only while somebody reads: a slow reader does not mean that the store is away.
          call.setTimeout(0);
          receive(response, request).then(resolve, reject);
        });
        call.end(request.body);
      }),
    close: () => agent.destroy(),
  };
}

async function receive(response: IncomingMessage, wait: Waiting): Promise<IncomingMessage> {
  const status = response.statusCode ?? 0;
  const code = Number(response.headers["x-clickhouse-exception-code"] ?? 0);
  if (status === 200 && code === 0) return response;
  const text = await readAll(response, wait);
  throw outageOfAnswer(status, code, text.toString("utf8"));
}

export type Waiting = Pick<LinkRequest, "signal" | "silenceMsMax" | "onBegun">;

/** The bytes of an answer as they come; fails when none come for too long. */
export async function* readChunks(
  response: IncomingMessage,
  { silenceMsMax }: Pick<Waiting, "silenceMsMax">,
): AsyncGenerator<Buffer> {
  const chunks = (response as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
  for (;;) {
    const timer =
      silenceMsMax === 0 ? undefined : setTimeout(() => response.destroy(silentOutage(silenceMsMax)), silenceMsMax);
    const step = await chunks.next().finally(() => clearTimeout(timer));
    if (step.done === true) return;
    yield step.value;
  }
}

function silentOutage(silenceMsMax: number): StoreOutage {
  return new StoreOutage("engine_down", `the store did not answer for ${silenceMsMax / 1000} s`);
}

export async function readAll(response: IncomingMessage, wait: Waiting): Promise<Buffer> {
  const chunks = await Array.fromAsync(readChunks(response, wait)).catch((error) => {
    throw toLinkOutage(error, wait.signal);
  });
  checkTrailers(response);
  return Buffer.concat(chunks);
}

/** Call it at the end of an answer: the embedded engine says in trailers if it ended in the middle. */
export function checkTrailers(response: IncomingMessage): void {
  const code = Number(response.trailers["x-clickhouse-exception-code"] ?? 0);
  if (code === 0) return;
  throw outageOfAnswer(200, code, decodeURIComponent(response.trailers["x-exception-text"] ?? ""));
}

/**
 * A connection that fails, or breaks in the middle of an answer, means that the engine went away, unless the caller
 * ended it.
 */
export function toLinkOutage(error: unknown, signal: AbortSignal | undefined): StoreOutage {
  if (error instanceof StoreOutage) return error;
  if (signal?.aborted) return new StoreOutage("cancelled", "the call was cancelled", { cause: error });
  return new StoreOutage("engine_down", `no answer from the store: ${(error as Error).message}`, { cause: error });
}

// Several addresses of one store: the servers of a cluster. One is used until it fails; then the next.

/** Errors of connections that were never made: nothing was sent, so another server may be asked at once. */
const neverMade: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
]);

export function createAnyLink(urls: readonly URL[]): HttpLink {
  const links = urls.map((url) => createLink({ url }));
  let at = 0;
  return {
    async send(request) {
      for (let tries = 1; ; tries++) {
        const mine = at;
        try {
          return await (links[mine] as HttpLink).send(request);
        } catch (error) {
          if (!(error instanceof StoreOutage) || error.kind !== "engine_down") throw error;
          if (at === mine) at = (mine + 1) % links.length;
          const { code = "" } = (error.cause ?? {}) as NodeJS.ErrnoException;
          if (tries >= links.length || !neverMade.has(code)) throw error;
        }
      }
    },
    close() {
      for (const link of links) link.close();
    },
  };
}

/** `http://a:8123,http://b:8123`. */
export function parseStoreUrls(text: string): URL[] {
  return text.split(",").map((one) => new URL(one.trim()));
}
