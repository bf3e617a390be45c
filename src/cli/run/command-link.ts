// Commands to the program: the wrapper speaks for it on a WebSocket, and what the server sends goes to its standard input.
// The link opens with the program's first run_start, by which the server knows whose commands it may send here.

import { WebSocket } from "ws";

export interface CommandLink {
  /** Tells the server that a run of the program hears here. The frame itself is also sent durably, by another way. */
  announce(runStart: Uint8Array): void;
  close(): void;
}

export interface CommandLinkOptions {
  readonly url: string;
  readonly key: string;
  readonly runId: string;
  onBytes(bytes: Uint8Array): void;
}

const reconnectMs = 2000;

export function createCommandLink({ url, key, runId, onBytes }: CommandLinkOptions): CommandLink {
  const address = `${url.replace(/^http/, "ws")}/v1/xtrack?heard=1&run=${encodeURIComponent(runId)}`;
  const headers = key === "" ? {} : { authorization: `Bearer ${key}` };
  const announced: Uint8Array[] = [];
  let socket: WebSocket | undefined;
  let closed = false;

  const open = () => {
    if (closed) return;
    const opening = new WebSocket(address, { headers, perMessageDeflate: false });
    socket = opening;
    opening.on("open", () => {
      // A new connection is told of every run again. The server does not store these frames: it gets them another way.
      for (const frame of announced) opening.send(frame);
    });
    opening.on("message", (data) => onBytes(data as Buffer));
    opening.on("error", () => undefined);
    opening.on("close", () => {
      if (!closed) setTimeout(open, reconnectMs).unref();
    });
  };

  return {
    announce(runStart) {
      announced.push(runStart);
      if (!socket) open();
      else if (socket.readyState === WebSocket.OPEN) socket.send(runStart);
    },
    close() {
      closed = true;
      socket?.terminate();
    },
  };
}
