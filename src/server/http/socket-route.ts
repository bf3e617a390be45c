// XTrack over WebSocket. An upgrade passes no HTTP hook, so Host, Origin, key and scope are checked here.

import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import type { Caller } from "#api/handler.ts";
import { Refusal } from "#api/refusal.ts";
import type { UnfinishedBytes } from "#server/unfinished-bytes.ts";
import { endWithRefusal } from "./client-errors.ts";
import type { SocketAbout } from "./ports.ts";
import type { ServerOptions } from "./server-options.ts";

/** Makes the checks that an ordinary request passes; returns the refusal if one fails. */
export type Admit = (request: IncomingMessage) => { caller: Caller; address: string } | Refusal;

export function addSocketRoute(
  server: Server,
  { sockets, config, unfinished }: Pick<ServerOptions, "sockets" | "config" | "unfinished">,
  admit: Admit,
): { close(): void } {
  // A WebSocket message may hold several frames, so it may be a little larger than the largest of them.
  const upgrader = new WebSocketServer({
    noServer: true,
    maxPayload: config.frameBytesMax + 65_536,
    perMessageDeflate: false,
  });
  server.on("upgrade", (request, socket, head) => {
    socket.on("error", () => socket.destroy());
    const path = (request.url ?? "").split("?")[0]?.replace(/\/+$/, "");
    const admitted =
      path === "/v1/xtrack" ? admit(request) : new Refusal("route_not_found", "There is no WebSocket at this path.");
    if (admitted instanceof Refusal) return endWithRefusal(socket, admitted);
    upgrader.handleUpgrade(request, socket, head, (ws) => {
      countMessage(ws, socket, unfinished);
      sockets.accept(ws, admitted.caller, admitted.address, toAbout(request.url ?? ""));
    });
  });
  return {
    close() {
      for (const client of upgrader.clients) client.close(1001, "the server is shutting down");
      upgrader.close();
    },
  };
}

/** A message is gathered until it is whole, so its bytes are counted as they come. */
function countMessage(ws: WebSocket, socket: Duplex, unfinished: UnfinishedBytes): void {
  const share = unfinished.open();
  let bytes = 0;
  socket.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (!share.hold(bytes)) ws.close(tryAgainLater, "the messages that are arriving now take all the memory there is");
  });
  ws.on("message", () => {
    bytes = 0;
    share.hold(0);
  });
  ws.once("close", () => share.close());
}

const tryAgainLater = 1013;

function toAbout(url: string): SocketAbout {
  const query = new URLSearchParams(url.split("?").slice(1).join("?"));
  return { runOverride: query.get("run") || null, isHeardOnly: query.get("heard") === "1" };
}
