// The engine process: owns `<data>/store` and serves it on a private socket. The supervisor starts it, and it lives no
// longer than its server: the system kills it then, or it kills itself when their channel closes. It ends hard, because
// chDB's handlers can make any softer end hang for minutes. Everything acknowledged is on disk by then.

import { once } from "node:events";
import { chmodSync, readdirSync, rmSync } from "node:fs";
import type { Server } from "node:http";
import { join } from "node:path";
import { Engine } from "./engine.ts";
import { type EngineFolders, prepareFolders } from "./engine-config.ts";
import { createDoor } from "./http-door.ts";
import type { EngineOptions, FromEngine, ToEngine } from "./messages.ts";
import { findLiveOwner, removeOwner, writeOwner } from "./owner.ts";

function die(): never {
  process.kill(process.pid, "SIGKILL");
  throw new Error("unreachable: SIGKILL cannot be handled");
}

/** Waits until the channel has taken the message, because the process usually ends right after it. */
async function tell(message: FromEngine): Promise<void> {
  await new Promise<void>((resolve) => {
    if (process.send === undefined) die();
    process.send(message, undefined, undefined, () => resolve());
  });
}

async function openEngine(options: EngineOptions, serverPid: number, folders: EngineFolders): Promise<Engine> {
  try {
    const engine = await Engine.open(folders, options.memoryBytesMax, options.guest);
    // If the server has gone meanwhile, the engine has another parent, and may not have been told yet.
    if (process.ppid !== serverPid) die();
    const owner = findLiveOwner(options.dataDir, serverPid);
    if (owner !== null) {
      await tell({ kind: "taken", owner });
      die();
    }
    writeOwner(options.dataDir, serverPid, options.isBrief);
    return engine;
  } catch (error) {
    // A locked folder and a damaged one look the same from here: chDB says which only on stderr, where the supervisor
    // reads it.
    await tell({ kind: "failed", reason: error instanceof Error ? error.message : String(error) });
    die();
  }
}

async function listen(server: Server, path: string): Promise<void> {
  rmSync(path, { force: true });
  const mask = process.umask(0o177);
  server.listen(path);
  await once(server, "listening");
  process.umask(mask);
  chmodSync(path, 0o600);
}

async function start(options: EngineOptions, serverPid: number): Promise<void> {
  // The system ends the engine with its server only if the server was still alive when this was set up.
  if (process.ppid !== serverPid) die();
  const folders = prepareFolders(options.dataDir);
  const engine = await openEngine(options, serverPid, folders);
  // chDB's crash handlers leave the process hanging for five minutes. These replace them: the broken thread spins in
  // its fault while this thread ends the process. A fault in this very thread is found by the missing heartbeat.
  for (const signal of ["SIGSEGV", "SIGABRT", "SIGBUS", "SIGILL", "SIGFPE"] as const) process.on(signal, die);
  // Ctrl-C in a terminal is meant for the server, which stops its engine when it is done with it.
  process.on("SIGINT", () => {});
  for (const name of readdirSync(folders.tmp)) {
    if (name.startsWith("insert-")) rmSync(join(folders.tmp, name), { force: true });
  }
  const door = createDoor(engine, folders.tmp);
  await listen(door, options.socketPath);
  process.on("message", (message: ToEngine) => {
    if (message.kind === "ping") {
      engine.probe().then(() => tell({ kind: "pong", serial: message.serial, load: engine.load() }), die);
    } else if (message.kind === "stop") {
      door.closeAllConnections();
      rmSync(options.socketPath, { force: true });
      removeOwner(options.dataDir);
      engine.close().then(die, die);
    }
  });
  await tell({ kind: "ready" });
}

process.on("disconnect", die);
process.once("message", (message: ToEngine) => {
  if (message.kind !== "start") die();
  start(message.options, message.serverPid).catch(async (error) => {
    await tell({ kind: "failed", reason: error instanceof Error ? error.message : String(error) });
    die();
  });
});
