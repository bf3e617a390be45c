// `Expect: 100-continue`: a client with a large body sends its head first, and the body only once the server says so. Node says
// so before anyone has looked at the request. Here it is said when somebody reads the body, so that a request that is refused
// by its head (no key, wrong scope, too large, too busy) never sends its body.

import type { IncomingMessage, Server, ServerResponse } from "node:http";

const waiting = new WeakMap<IncomingMessage, ServerResponse>();

/** Leaves it to the readers of bodies when a body may come. */
export function holdBodies(server: Pick<Server, "on" | "emit">): void {
  server.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => {
    waiting.set(request, response);
    server.emit("request", request, response);
  });
}

/** Whether the sender still waits to be told that the body may come. */
export function holdsBody(request: IncomingMessage): boolean {
  return waiting.has(request);
}

export function letBodyCome(request: IncomingMessage): void {
  waiting.get(request)?.writeContinue();
  waiting.delete(request);
}
