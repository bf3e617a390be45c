// tributary up: the server.

import { once } from "node:events";
import type { Command } from "commander";
import { createClient } from "#cli/client.ts";
import { type Context, paint, type RunningServer } from "#cli/context.ts";
import { whenShellGone } from "#cli/npm-shell.ts";
import { addServeOptions, type SharedOptions, toConfig } from "#cli/options.ts";
import { keyFor } from "#cli/own-key.ts";
import { printLine } from "#cli/print.ts";
import { takeLeftEvents } from "#cli/run/left-events.ts";
import { replaySpool } from "#cli/run/spool.ts";
import { createLog } from "#server/log.ts";

export function addUp(program: Command, context: Context): void {
  const command = program
    .command("up")
    .summary("start the server")
    .description("Takes traces, answers queries and serves the browser application, until Ctrl-C or SIGTERM.")
    .addHelpText("after", "\nExample:\n  tributary up --data /var/lib/tributary\n");
  addServeOptions(command).action(async (options: SharedOptions) => {
    const config = toConfig(context, options);
    const log = createLog({ level: config.logLevel, format: config.logFormat });
    const server = await context.openServer(config, log);
    if (!options.quiet) printAddresses(context, server, config.dataDir);
    // What programs recorded while no server was there.
    const client = createClient(server.url, keyFor(config, server.url));
    await replaySpool(client, config.dataDir)
      .then(() => takeLeftEvents(client, context, true))
      .catch((cause: unknown) => log.warn({ err: cause }, "a spool waits on"));
    await Promise.race([waitForStop(context.stop), whenShellGone(context.env)]);
    await server.close();
  });
}

export function printAddresses(context: Context, server: RunningServer, dataDir: string, path = ""): void {
  const name = (text: string) => paint(context.stdout, context.env, "bold", text.padEnd(8));
  printLine(context, `${name("Open")}${server.url}${path}`);
  for (const address of server.xtrack) printLine(context, `${name("XTrack")}${address}`);
  const grpc = server.otlp?.grpc ?? null;
  if (grpc !== null) printLine(context, `${name("OTLP")}${grpc.host}:${grpc.port}`);
  printLine(context, `${name("Data")}${dataDir}`);
}

export async function waitForStop(stop: AbortSignal): Promise<void> {
  if (!stop.aborted) await once(stop, "abort");
}
