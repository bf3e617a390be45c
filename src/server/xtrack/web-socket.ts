// XTrack over WebSocket, for workers behind proxies. Binary messages are chunks of the frame stream, cut anywhere. If
// the first message is text, it may be the key; any other text is kept as bytes that are no frame.

import type { WebSocket } from "ws";
import { type Carrier, Connection, type ConnectionInfo, type ConnectionPorts, type DoorParts } from "./connection.ts";
import type { Admission, StreamOrigin } from "./ports.ts";

type StreamAbout = Pick<StreamOrigin, "runOverride" | "isHeardOnly">;

export interface WebSocketDoor {
  /** Takes over a socket whose Host, Origin, key and scope were checked. */
  accept(socket: WebSocket, caller: Admission, peer: string, about?: StreamAbout): void;
  list(): ConnectionInfo[];
  close(): Promise<void>;
}

/** Proxies drop connections that are silent for about a minute. */
const pingMs = 30_000;
const goingAway = 1001;

/** The HTTP server has admitted the caller already. */
type OpenParts = Omit<DoorParts, "ports"> & { readonly ports: Omit<ConnectionPorts, "gate"> };

export function createWebSocketDoor(parts: OpenParts): WebSocketDoor {
  const { rules, counters } = parts;
  const { watchSource, ...ports } = parts.ports;
  const connections = new Map<WebSocket, Connection>();
  return {
    accept(socket, caller, peer, about = { runOverride: null }) {
      const carrier = toCarrier(socket, peer, about);
      // The HTTP server has admitted the caller, so the key is watched before anything is said; a key repeated in the
      // stream is only taken out of it.
      const unwatch = watchSource?.(caller.source, () => socket.terminate());
      const connection = new Connection(carrier, { ...ports, gate: { admit: () => caller } }, rules, counters);
      connections.set(socket, connection);
      const pinging = setInterval(() => socket.ping(), pingMs).unref();
      socket.binaryType = "nodebuffer";
      socket.on("message", (data, isBinary) => {
        connection.receive(isBinary ? (data as Buffer) : Buffer.concat([data as Buffer, Buffer.from("\n")]));
      });
      socket.on("error", () => undefined);
      socket.once("close", (code) => {
        clearInterval(pinging);
        unwatch?.();
        connections.delete(socket);
        void connection.finish(code === 1006 ? "reset" : "eof");
      });
    },
    list: () => [...connections.values()].map((connection) => connection.info()),
    async close() {
      await Promise.all(
        [...connections].map(async ([socket, connection]) => {
          socket.pause();
          await connection.finish("shutdown");
          socket.close(goingAway);
          socket.terminate();
        }),
      );
    },
  };
}

function toCarrier(socket: WebSocket, address: string, about: StreamAbout): Carrier {
  return {
    transport: "ws",
    address,
    ...about,
    write: (bytes, done) =>
      socket.send(bytes, { binary: true }, (error) => done(error === undefined || error === null)),
    bufferedBytes: () => socket.bufferedAmount,
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    finish: () => socket.close(),
    destroy: () => socket.terminate(),
  };
}
