#!/usr/bin/env node
// The only place that joins the rooms.

// Imported as a whole: on a Node that is too old for a named import, the program must still get to the sentence below.
import nodeModule from "node:module";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";
import { toOldNodeSentence } from "#base/old-node.ts";
import type { Context } from "#cli/context.ts";

const tooOld = toOldNodeSentence(process.versions.node);
if (tooOld !== "") {
  console.error(`error  ${tooOld}`);
  process.exit(2);
}

// Compiled once, not at every start, which matters for short commands. Only what is imported after this line counts.
nodeModule.enableCompileCache();

const stop = new AbortController();

const context: Context = {
  stdout: process.stdout,
  stderr: process.stderr,
  stdin: process.stdin,
  env: process.env,
  stop: stop.signal,
  serverWaitMs: 10_000,
  // Beside the sources in a checkout, beside dist/ in a release: the same place from here.
  examplesDir: fileURLToPath(new URL("../examples", import.meta.url)),
  // The server is half the program, and most commands only talk to one.
  openServer: async (config, log, isBrief) => {
    // A server mostly holds buffers outside of a small heap. The runtime counts them against a limit that it derives from
    // the heap's size, and would collect the whole heap for every few megabytes of input. So it waits until the heap has
    // grown to three times its size.
    setFlagsFromString("--heap-growing-percent=200");
    const { makeDataFolder } = await import("#cli/data-folder.ts");
    makeDataFolder(config.dataDir);
    // The engine takes about as long to start as the server's modules take to load, so both happen at once.
    const { startStore } = await import("#server/app/backends.ts");
    const store = startStore(config, log, isBrief);
    const { openApp } = await import("#server/app/app.ts");
    const app = await openApp(config, log, store);
    // A server that is killed one day would not leave what it has compiled.
    nodeModule.flushCompileCache();
    return { url: app.url, xtrack: app.xtrack, otlp: app.otlp, close: () => app.close() };
  },
};

// `tributary runs | head` closes the pipe early; that is not a failure. A program under `tributary run` goes on all the same.
process.stdout.on("error", ({ code }: NodeJS.ErrnoException) => {
  if (process.stdout.listenerCount("error") > 1) return;
  if (code === "EPIPE") process.exit(0);
  console.error(`error Standard output cannot be written (${code}).`);
  process.exit(1);
});

// What nobody reads is no reason to stop.
process.stderr.on("error", () => undefined);

// The first signal asks to stop and drains; the second does not wait, unless someone else takes care of signals: a
// program that runs under `tributary run` gets them all and decides itself when it ends.
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    if (stop.signal.aborted && process.listenerCount(signal) === 1) process.exit(130);
    stop.abort();
  });
}

const { runCli } = await import("#cli/program.ts");
process.exitCode = await runCli(process.argv.slice(2), context);
