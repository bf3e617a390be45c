// Finds the server to talk to. If none was named, none answers and the data folder is free, the command opens the folder
// itself: it starts the same server on a free local port, asks it, and closes it again.

import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "commander";
import type { Config } from "#config/settings.ts";
import { settings } from "#config/settings.ts";
import { createLog } from "#server/log.ts";
import { type Client, createClient } from "./client.ts";
import type { Context, RunningServer } from "./context.ts";
import { Exit, exitCodes } from "./exit.ts";
import { addConnectOptions, addJsonOption, type SharedOptions, toConfig, toOwnUrl } from "./options.ts";
import { keyFor } from "./own-key.ts";

/** Nobody else talks to a server that is there for one command. */
const closedDoors = {
  httpAddress: "127.0.0.1:0",
  xtrackAddress: "off",
  xtrackUnixPath: "",
  otlpGrpcAddress: "off",
  otlpHttpAddress: "off",
} as const;

export interface ConnectOptions extends SharedOptions {
  /** The command writes, so an absent data folder may be made. */
  readonly mayCreate?: boolean;
}

/** A command that asks a server: `use` gets a client of one, the options, and the arguments that were given. */
export function askServer<O extends ConnectOptions, A extends unknown[]>(
  context: Context,
  command: Command,
  use: (client: Client, options: O, ...args: A) => Promise<void>,
): void {
  addJsonOption(addConnectOptions(command)).action((...words: unknown[]) => {
    // After the arguments come the options and the command itself.
    const options = words.at(-2) as O;
    return withClient(context, options, (client) => use(client, options, ...(words.slice(0, -2) as A)));
  });
}

/** Calls `use` with a client of a server that answers, and closes what was opened for it. */
export async function withClient<T>(
  context: Context,
  options: ConnectOptions,
  use: (client: Client, config: Config) => Promise<T>,
): Promise<T> {
  const config = toConfig(context, options);
  const askThere = () => use(createClient(config.server, keyFor(config, config.server)), config);
  if (await answers(config.server)) return askThere();
  if (config.server !== settings.server.default && config.server !== toOwnUrl(config)) {
    throw new Exit(
      exitCodes.outage,
      `No server answers at ${config.server}.`,
      "Start one with: tributary up   or name another with --server URL.",
    );
  }
  if (!options.mayCreate && !existsSync(config.dataDir)) {
    throw new Exit(
      exitCodes.outage,
      `No server answers at ${config.server}, and there is no data in ${config.dataDir}.`,
      "Start a server with: tributary up   or see it with a sample: tributary demo",
    );
  }
  const local = toConfig(context, options, closedDoors);
  const server = await openForNow(context, local, config.server);
  if (server === null) return askThere();
  try {
    return await use(createClient(server.url, keyFor(config, server.url)), local);
  } finally {
    await server.close();
  }
}

/** Null if a server that was still starting holds the folder and answers by now. */
async function openForNow(context: Context, config: Config, server: string): Promise<RunningServer | null> {
  try {
    return await context.openServer(config, createLog({ level: "error", format: config.logFormat }), true);
  } catch (error) {
    if ((error as { kind?: string }).kind !== "folder_taken") throw error;
    for (const until = performance.now() + context.serverWaitMs; performance.now() < until; await sleep(100))
      if (await answers(server)) return null;
    throw error;
  }
}

/** Where nobody listens that is known at once; a server that is very busy takes its time. */
const answerMs = 10_000;

/** Whether something that is a Tributary answers there. */
export async function answers(url: string, withinMs: number = answerMs): Promise<boolean> {
  try {
    const response = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(withinMs) });
    return response.ok;
  } catch {
    return false;
  }
}
