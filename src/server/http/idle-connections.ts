// A closing server waits for its connections, and closes only those that are idle at that moment. Two kinds would hold
// it up until its time is over: a connection whose stream ends because the server closes, and one that a browser opened
// in advance and sent nothing on.

import type { Server } from "node:http";
import type { Socket } from "node:net";

const sweepMs = 50;

export interface IdleConnections {
  /** Closes idle connections from now on, until the server is closed. */
  sweep(): void;
}

export function watchIdleConnections(server: Server): IdleConnections {
  const open = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
  });
  const sweep = () => {
    server.closeIdleConnections();
    for (const socket of open) if (socket.bytesRead === 0) socket.destroy();
  };
  return {
    sweep() {
      const timer = setInterval(sweep, sweepMs);
      server.once("close", () => clearInterval(timer));
      sweep();
    },
  };
}
