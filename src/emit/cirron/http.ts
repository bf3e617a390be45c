// One HTTP exchange, whole answer in memory up to a bound. node:http rather than fetch: its sockets can
// be unreferenced, so a request in flight never keeps the user's process alive.

import type { RequestOptions } from "node:http";
import { Agent as HttpsAgent, request as requestHttps } from "node:https";
import { HttpAgent, requestHttp } from "#base/node-http.ts";
import { toTarget } from "#base/redirect.ts";

export interface HttpRequest {
  readonly method: "POST" | "PUT";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

export type HttpAnswer =
  | { readonly kind: "answer"; readonly status: number; readonly location?: string; readonly retryAfter?: string }
  | { readonly kind: "outage"; readonly cause: unknown };

const redirectsMax = 3;
const plain = new HttpAgent({ keepAlive: true, maxSockets: 2 });
const secure = new HttpsAgent({ keepAlive: true, maxSockets: 2 });

/** Never rejects. 307 and 308 are followed; the others would turn the POST into a GET and lose it. */
export async function exchange(request: HttpRequest, timeoutMs: number): Promise<HttpAnswer> {
  let { url } = request;
  for (let hop = 0; ; hop++) {
    const answer = await exchangeOnce({ ...request, url }, timeoutMs);
    const again = answer.kind === "answer" && (answer.status === 307 || answer.status === 308);
    if (!again || answer.location === undefined || hop === redirectsMax) return answer;
    const target = toTarget(url, answer.location);
    if (target === null) return answer;
    url = target;
  }
}

export function closeConnections(): void {
  plain.destroy();
  secure.destroy();
}

function exchangeOnce(request: HttpRequest, timeoutMs: number): Promise<HttpAnswer> {
  return new Promise((resolve) => {
    try {
      const isSecure = request.url.startsWith("https:");
      const options: RequestOptions = {
        method: request.method,
        headers: { ...request.headers, "Content-Length": String(request.body.length) },
        agent: isSecure ? secure : plain,
        timeout: timeoutMs,
      };
      const outgoing = (isSecure ? requestHttps : requestHttp)(request.url, options, (incoming) => {
        limitAnswer();
        const { location, "retry-after": retryAfter } = incoming.headers;
        // The body says nothing we need, but an unread one would block the connection.
        incoming.resume();
        incoming.on("error", (cause) => resolve({ kind: "outage", cause }));
        incoming.on("end", () =>
          resolve({
            kind: "answer",
            status: incoming.statusCode ?? 0,
            ...(location === undefined ? {} : { location }),
            ...(retryAfter === undefined ? {} : { retryAfter }),
          }),
        );
      });
      // The timeout of a socket begins again with every byte, so an answer that trickles needs a limit of its own.
      let limit: NodeJS.Timeout | undefined;
      const giveUp = () => outgoing.destroy(new Error(`no answer within ${timeoutMs} ms`));
      const limitAnswer = () => {
        limit ??= setTimeout(giveUp, timeoutMs).unref();
      };
      outgoing.on("finish", limitAnswer);
      outgoing.on("close", () => clearTimeout(limit));
      outgoing.on("socket", (socket) => socket.unref());
      outgoing.on("timeout", giveUp);
      outgoing.on("error", (cause) => resolve({ kind: "outage", cause }));
      outgoing.end(request.body);
    } catch (cause) {
      resolve({ kind: "outage", cause });
    }
  });
}
