// Frames over TCP or a Unix socket.

import { connect, type NetConnectOpts, type Socket } from "node:net";
import type { Transport, TransportEvents } from "./transport.ts";

export type SocketAddress = { readonly host: string; readonly port: number } | { readonly path: string };

export function openSocket(address: SocketAddress, events: TransportEvents): Transport {
  return new SocketTransport(connect({ ...address, noDelay: true } as NetConnectOpts), events);
}

class SocketTransport implements Transport {
  readonly isReady = false;
  readonly accepts = ["ack", "command"] as const;
  private readonly socket: Socket;

  constructor(socket: Socket, events: TransportEvents) {
    this.socket = socket;
    socket.unref();
    let isClosed = false;
    const close = () => {
      if (isClosed) return;
      isClosed = true;
      socket.destroy();
      events.onClose();
    };
    socket.on("connect", () => events.onOpen());
    socket.on("drain", () => events.onRoom());
    socket.on("data", (chunk: Buffer) => events.onBytes(chunk));
    socket.on("error", close);
    socket.on("end", close);
    socket.on("close", close);
  }

  get pendingBytes(): number {
    return this.socket.writableLength;
  }

  write(frames: Uint8Array): boolean {
    return this.socket.write(frames);
  }

  hold(isHeld: boolean): void {
    if (isHeld) this.socket.ref();
    else this.socket.unref();
  }

  // We go on reading until the collector closes: unread bytes would turn our close into a reset, and a
  // reset can take our last events with it.
  end(): void {
    this.socket.end();
  }

  destroy(): void {
    this.socket.destroy();
  }
}
