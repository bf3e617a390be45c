// XTrack over TCP and Unix sockets. Sockets are read as fast as the kernel gives bytes, or as the disk takes them.
// Half-open ones are kept, so that a worker that ends its side still gets its last acks.

import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chmod, lstat, rename, unlink } from "node:fs/promises";
import { connect, createServer, type Server, type Socket } from "node:net";
import { type Carrier, Connection, type ConnectionInfo, type DoorParts } from "./connection.ts";
import type { Transport } from "./ports.ts";

export type ListenAddress = { readonly host: string; readonly port: number } | { readonly path: string };

export interface SocketServerOptions extends DoorParts {
  readonly listen: ListenAddress;
  readonly connectionsMax: number;
}

export interface SocketServer {
  /** Where it listens, with the real port if 0 was asked for. */
  readonly address: ListenAddress;
  list(): ConnectionInfo[];
  /** Stops accepting, makes durable what came, then closes the open connections. */
  close(): Promise<void>;
}

/** The kernel's probes find dead peers, since silence is no reason to close. */
const keepAliveMs = 60_000;

export async function createSocketServer(options: SocketServerOptions): Promise<SocketServer> {
  const { listen, connectionsMax, counters } = options;
  const transport = "path" in listen ? "unix" : "tcp";
  const connections = new Map<Socket, Connection>();
  const server = createServer({
    allowHalfOpen: true,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: keepAliveMs,
    // A paused socket takes one more piece and leaves the rest to the kernel; taking that piece does not make it read
    // on. For others this makes no difference.
    highWaterMark: 0,
  });
  server.maxConnections = connectionsMax;
  server.on("drop", () => counters.overLimit++);
  server.on("connection", (socket) => {
    const connection = serve(socket, transport, options);
    connections.set(socket, connection);
    socket.once("close", () => connections.delete(socket));
  });
  const address = "path" in listen ? await listenPath(server, listen.path) : await listenPort(server, listen);
  return {
    address,
    list: () => [...connections.values()].map((connection) => connection.info()),
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const connection of connections.values()) connection.rise();
      await readWhatCame();
      for (const socket of connections.keys()) socket.pause();
      await Promise.all([...connections.values()].map((connection) => connection.finish("shutdown")));
      for (const socket of connections.keys()) socket.destroySoon();
      await closed;
      if ("path" in address) await unlink(address.path).catch(() => undefined);
    },
  };
}

// The kernel holds bytes that were sent in good faith, so the sockets are read a few times more before they are closed.
async function readWhatCame(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setTimeout(resolve, 5));
}

function serve(socket: Socket, transport: Transport, { ports, rules, counters }: DoorParts): Connection {
  const address = transport === "unix" ? "localhost" : (socket.remoteAddress ?? "");
  const carrier: Carrier = {
    transport,
    address,
    runOverride: null,
    write: (bytes, done) => socket.write(bytes, (error) => done(error === null || error === undefined)),
    bufferedBytes: () => socket.writableLength,
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    sips: {
      begin() {
        // First the piece that came before the pause.
        socket.read();
        socket.read(0);
      },
      end: () => void socket.read(),
    },
    finish: () => socket.end(),
    destroy: () => socket.destroy(),
  };
  const connection = new Connection(carrier, ports, rules, counters);
  socket.on("data", (chunk) => connection.receive(chunk));
  socket.once("end", () => void connection.finish("eof"));
  // Without a listener an error would end the process; "close" follows it.
  socket.on("error", () => undefined);
  socket.once("close", () => void connection.finish("reset"));
  return connection;
}

async function listenPort(server: Server, { host, port }: { host: string; port: number }): Promise<ListenAddress> {
  server.listen({ host, port, backlog: 4096 });
  await once(server, "listening");
  const bound = server.address();
  return { host, port: typeof bound === "object" && bound !== null ? bound.port : port };
}

// The socket is made under another name, closed to others, and only then given its own: nobody can connect in between,
// and a socket that a killed server left behind is replaced.
async function listenPath(server: Server, path: string): Promise<ListenAddress> {
  await refuseUsedPath(path);
  const beside = `${path}.${randomBytes(3).toString("hex")}`;
  server.listen({ path: beside, backlog: 4096 });
  await once(server, "listening");
  await chmod(beside, 0o600);
  await rename(beside, path);
  return { path };
}

async function refuseUsedPath(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined) return;
  const isUsed = !found.isSocket() || (await answers(path));
  if (isUsed) throw Object.assign(new Error(`${path} is in use`), { code: "EADDRINUSE" });
}

async function answers(path: string): Promise<boolean> {
  const probe = connect(path);
  try {
    await once(probe, "connect");
    return true;
  } catch {
    return false;
  } finally {
    probe.destroy();
  }
}
