// What several collectors share in tests: a real NATS server that can be stopped and started again, and one engine that
// all of them reach by URL, as they would a ClickHouse server.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { startEmbedded } from "#store/embedded.ts";
import { createTestApp, type TestApp } from "./app.ts";
import { freePort } from "./free-port.ts";
import { makeMigratedFolder } from "./migrated-folder.ts";
import { openStoreDoor, type StoreDoor } from "./store-door.ts";
import { openTcpDoor } from "./tcp-door.ts";
import { findTool } from "./tools.ts";

export { freePort };

export const natsPath: string | undefined = findTool("nats");

export interface NatsServer {
  readonly url: string;
  start(): Promise<void>;
  /** By SIGKILL. */
  kill(): Promise<void>;
}

export async function startNats(flags: readonly string[] = []): Promise<NatsServer> {
  if (natsPath === undefined)
    throw new Error("There is no nats-server here; `npm test` installs it as root on Debian.");
  const path = natsPath;
  const port = await freePort();
  let child: ChildProcess | null = null;
  const server: NatsServer = {
    url: `nats://127.0.0.1:${port}`,
    async start() {
      child = spawn(path, ["-a", "127.0.0.1", "-p", String(port), ...flags], { stdio: "ignore" });
      await eventually(() => canConnect(port), "the NATS server did not listen");
    },
    async kill() {
      if (child === null || child.exitCode !== null || child.signalCode !== null) return;
      child.kill("SIGKILL");
      await once(child, "exit");
    },
  };
  await server.start();
  return server;
}

export interface SharedStore {
  readonly url: string;
  close(): Promise<void>;
}

export async function startSharedStore(): Promise<SharedStore> {
  return shareStore(await makeMigratedFolder("server"));
}

/** `dataDir` is removed in the end. */
export async function shareStore(dataDir: string): Promise<SharedStore> {
  const engine = await startEmbedded({ kind: "embedded", dataDir });
  const door = await openTcpDoor(engine.socketPath);
  return {
    url: door.url,
    async close() {
      door.close();
      await engine.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

export interface DooredStore extends SharedStore {
  readonly door: StoreDoor;
}

/** Statements that go there can be refused. */
export async function startDooredStore(): Promise<DooredStore> {
  const dataDir = await makeMigratedFolder("server");
  const engine = await startEmbedded({ kind: "embedded", dataDir });
  const door = await openStoreDoor(engine.socketPath);
  return {
    url: door.url,
    door,
    async close() {
      await door.close();
      await engine.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

export interface Pair {
  readonly nats: NatsServer;
  readonly a: TestApp;
  readonly b: TestApp;
  remove(): Promise<void>;
}

/** Two collectors on one store and one bus, which know of each other. */
export async function openPair(flags: Parameters<typeof createTestApp>[0] = {}, store?: SharedStore): Promise<Pair> {
  const [nats, shared] = await Promise.all([startNats(), store ?? startSharedStore()]);
  const all = { storeUrl: shared.url, storeGuestUser: "guest", busUrl: nats.url, ...flags };
  const a = await createTestApp(all);
  const b = await createTestApp(all);
  for (const app of [a, b]) await eventually(() => knowsAnother(app), "they do not know each other");
  return {
    nats,
    a,
    b,
    async remove() {
      await Promise.all([a.remove(), b.remove()]);
      await nats.kill();
      await shared.close();
    },
  };
}

async function knowsAnother({ app }: TestApp): Promise<boolean> {
  const text = await (await fetch(`${app.url}/metrics`)).text();
  return /tributary_collectors 2\b/.test(text);
}

export async function eventually(
  holds: () => boolean | Promise<boolean>,
  what = "it did not happen",
  withinMs = 30_000,
): Promise<void> {
  const deadlineMs = Date.now() + withinMs;
  // Most questions cost the engine more than a wait does, so what takes long is asked for less and less often, and a
  // question that takes long itself leaves the machine to others for a while.
  for (let pauseMs = 10; ; pauseMs = Math.min(pauseMs * 1.5, 250)) {
    const askedMs = performance.now();
    if (await holds()) return;
    if (Date.now() > deadlineMs) throw new Error(what);
    await sleep(Math.max(pauseMs, Math.min(3 * (performance.now() - askedMs), 1000)));
  }
}

async function canConnect(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
