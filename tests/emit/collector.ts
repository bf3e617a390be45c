// A small XTrack collector for tests: records, confirms when told to, sends commands, drops connections.

import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import { WebSocketServer } from "ws";
import { FrameReader, type ReadEvent } from "./read-frames.ts";

interface Peer {
  readonly events: ReadEvent[];
  send(type: string, payload: object): void;
  drop(): void;
}

export interface CollectorOptions {
  /** Whether an event of this peer is confirmed. Default: only those who asked, and all of them. */
  readonly confirms?: (event: ReadEvent, peer: Peer) => boolean;
  readonly onEvent?: (event: ReadEvent, peer: Peer) => void;
  /** Listen here instead of on a free port. */
  readonly at?: number | string;
}

export interface Collector {
  readonly port: number;
  readonly peers: Peer[];
  /** Every event of every connection, in order of arrival. */
  readonly events: ReadEvent[];
  until(condition: () => boolean): Promise<void>;
  close(): Promise<void>;
}

interface Wire {
  write(bytes: Buffer): void;
  drop(): void;
}

function toFrame(envelope: object): Buffer {
  const json = Buffer.from(JSON.stringify(envelope));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(json.length);
  return Buffer.concat([length, json]);
}

class Hub {
  readonly peers: Peer[] = [];
  readonly events: ReadEvent[] = [];
  private readonly listeners = new Set<() => void>();
  private readonly options: CollectorOptions;

  constructor(options: CollectorOptions) {
    this.options = options;
  }

  welcome(wire: Wire): (chunk: Buffer) => void {
    const reader = new FrameReader();
    let sent = 0;
    let hasAsked = false;
    const peer: Peer = {
      events: reader.events,
      drop: wire.drop,
      send: (type, payload) =>
        wire.write(toFrame({ v: 1, t: type, m: { seq: ++sent, ts: Date.now() * 1000 }, p: payload })),
    };
    this.peers.push(peer);
    return (chunk) => {
      for (const event of reader.push(chunk)) {
        this.events.push(event);
        if (event.t === "run_start" && event.p.accepts?.includes("ack")) hasAsked = true;
        const isConfirmed = hasAsked && event.t !== "ack" && (this.options.confirms?.(event, peer) ?? true);
        const { run_id: id } = event.p;
        const run_id = typeof id === "object" ? id.id : id;
        const { seq, wid = "" } = event.m;
        if (isConfirmed) peer.send("ack", { seq, status: "ok", error: null, run_id, wid });
        this.options.onEvent?.(event, peer);
      }
      for (const listener of this.listeners) listener();
    };
  }

  until(condition: () => boolean): Promise<void> {
    return new Promise((done) => {
      const look = () => {
        if (!condition()) return;
        this.listeners.delete(look);
        done();
      };
      this.listeners.add(look);
      look();
    });
  }
}

export async function startCollector(options: CollectorOptions = {}): Promise<Collector> {
  const hub = new Hub(options);
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    const take = hub.welcome({
      write: (bytes) => void socket.write(bytes),
      drop: () => void (options.at === undefined ? socket.resetAndDestroy() : socket.destroy()),
    });
    socket.on("data", (chunk) => {
      // One write for the confirmations of a chunk: a process that exits waits for the last of them.
      socket.cork();
      take(chunk);
      socket.uncork();
    });
    socket.on("error", () => undefined);
    socket.on("close", () => sockets.delete(socket));
  });
  const where = typeof options.at === "string" ? { path: options.at } : { port: options.at ?? 0, host: "127.0.0.1" };
  await new Promise<void>((done) => server.listen(where, done));
  const close = () =>
    new Promise<void>((done) => {
      for (const socket of sockets) socket.destroy();
      server.close(() => done());
    });
  onTestFinished(close);
  const address = server.address();
  return {
    port: typeof address === "string" ? 0 : (address as AddressInfo).port,
    peers: hub.peers,
    events: hub.events,
    until: (condition) => hub.until(condition),
    close,
  };
}

export async function startWebCollector(options: CollectorOptions = {}) {
  const hub = new Hub(options);
  const http = createHttpServer();
  const server = new WebSocketServer({ server: http, path: "/v1/xtrack" });
  const headers: (string | undefined)[] = [];
  server.on("connection", (socket, request) => {
    headers.push(request.headers.authorization);
    const take = hub.welcome({ write: (bytes) => socket.send(bytes), drop: () => socket.terminate() });
    socket.on("message", (data) => take(data as Buffer));
    socket.ping();
  });
  await new Promise<void>((done) => http.listen(0, "127.0.0.1", done));
  onTestFinished(() => {
    for (const client of server.clients) client.terminate();
    server.close();
    http.close();
  });
  return { url: `ws://127.0.0.1:${(http.address() as AddressInfo).port}/v1/xtrack`, hub, headers };
}
