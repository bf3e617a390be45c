#!/usr/bin/env node
// The only place that joins the rooms.

import type { Context } from "#cli/context.ts";
import { runCli } from "#cli/program.ts";

const stop = new AbortController();

const context: Context = {
  stdout: process.stdout,
  stderr: process.stderr,
  stdin: process.stdin,
  env: process.env,
  stop: stop.signal,
  openServer: async () => {
    throw new Error("no server is joined here yet");
  },
};

// The first signal asks to stop and drains; the second does not wait.
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    if (stop.signal.aborted) process.exit(130);
    stop.abort();
  });
}

process.exitCode = await runCli(process.argv.slice(2), context);
