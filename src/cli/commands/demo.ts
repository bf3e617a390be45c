// tributary demo: a server with a real sample in it, and a program that runs now.

import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join, relative, sep } from "node:path";
import type { Command } from "commander";
import { createClient } from "#cli/client.ts";
import { type Context, paint, type RunningServer } from "#cli/context.ts";
import { formatBytes, formatCount } from "#cli/format.ts";
import { type ImportResult, importPaths } from "#cli/import/import.ts";
import { addServeOptions, type SharedOptions, toConfig } from "#cli/options.ts";
import { keyFor } from "#cli/own-key.ts";
import { printLine } from "#cli/print.ts";
import { settings } from "#config/settings.ts";
import { findLocalCommand } from "#server/http/own-command.ts";
import { createLog } from "#server/log.ts";
import { printAddresses, waitForStop } from "./up.ts";

interface DemoOptions extends SharedOptions {
  readonly live: boolean;
}

const demoFolder = ".tributary-demo";

/**
 * Trainings that two clients recorded at once. Their spans do not name the run of the other recording, as they would under
 * `tributary run`, so the run is given here.
 */
const twins = [
  { folder: join("h200", "cirron-stats"), run: "349082d8-7fd3-4e08-aeb5-ffb29c1d81d9" },
  { folder: join("h200", "cirron-full"), run: "596350f9-109d-4c13-b2a1-a14266af6282" },
];

// A small training that can be steered while it runs. Node does not run TypeScript inside node_modules, so a release
// has it built, beside the rest of the program. An hour of steps; when they are done it starts over.
const isRelease = !import.meta.url.endsWith(".ts");
const liveSteps = 72_000;
const liveProgram = isRelease ? "../dist/examples/steerable-job.js" : "steerable-job/job.ts";

export function addDemo(program: Command, context: Context): void {
  const command = program
    .command("demo")
    .summary("see it with a real sample")
    .description(
      "Starts a server in a folder of its own, loads traces of real trainings and pipelines into it, and starts one small " +
        "training to watch and steer. Opens on a page that leads through them in six steps.",
    )
    .option("--no-live", "without the training that runs now")
    .addHelpText("after", "\nExample:\n  tributary demo\n");
  addServeOptions(command, demoFolder).action(async (options: DemoOptions) => {
    const config = toConfig(context, { data: demoFolder, ...options });
    const level = options.verbose ? "debug" : options.quiet ? "error" : "warn";
    const server = await context.openServer(config, createLog({ level, format: config.logFormat }));
    // The folder may have keys by now; whoever can read it owns the server.
    const key = keyFor(config, server.url);
    const live = createLive(context, server, key);
    try {
      await loadSample(context, server, key);
      const isTraining = options.live && live.start();
      printAddresses(context, server, config.dataDir, "/tour");
      printNext(context, server, isTraining);
      await waitForStop(context.stop);
    } finally {
      live.close();
      await server.close();
    }
  });
}

async function loadSample(context: Context, server: RunningServer, key: string): Promise<void> {
  const began = performance.now();
  const client = createClient(server.url, key);
  const folder = join(context.examplesDir, "data");
  const common = { client, speed: "instant", follow: false, stop: context.stop } as const;
  const isTwin = (path: string) => twins.some((twin) => path.startsWith(join(folder, twin.folder) + sep));
  const results = [await importPaths({ ...common, paths: [folder], only: (path) => !isTwin(path) })];
  for (const twin of twins)
    results.push(await importPaths({ ...common, paths: [join(folder, twin.folder)], runId: twin.run }));
  const sum = (of: (result: ImportResult) => number) => results.reduce((total, result) => total + of(result), 0);
  const { total } = await client.call("runs", { query: { limit: 1 } });
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  const what = `${formatCount(
    sum(({ files }) => files),
    "file",
  )} of real trainings and pipelines, ${formatBytes(sum(({ bytes }) => bytes))}`;
  printLine(context, `Loaded ${what}: ${formatCount(total, "run")} in ${seconds} s.\n`);
}

/** A training that goes on as long as the demo, unless a person stops it. */
function createLive(context: Context, server: RunningServer, key: string): { start(): boolean; close(): void } {
  const program = join(context.examplesDir, liveProgram);
  const address = server.xtrack[0];
  let child: ChildProcess | undefined;
  let isClosed = false;
  const start = (): boolean => {
    if (!existsSync(program) || address === undefined) return false;
    const at = address.lastIndexOf(":");
    const env = {
      ...context.env,
      TRIBUTARY_SERVER: server.url,
      XTRACK_TRANSPORT: "tcp",
      XTRACK_HOST: address.slice(0, at).replace(/^\[|\]$/g, ""),
      XTRACK_PORT: address.slice(at + 1),
      XTRACK_API_KEY: key,
      // Events that the toy could not send are not worth a folder in the working directory.
      XTRACK_SPOOL: "off",
    };
    child = spawn(process.execPath, [program, String(liveSteps)], {
      env: env as NodeJS.ProcessEnv,
      // The channel carries nothing. It breaks when this process ends, even killed, and the training then ends too.
      stdio: ["ignore", "pipe", "ignore", "ipc"],
    });
    let said = "";
    child.stdout?.on("data", (text: Buffer) => {
      said += text.toString();
    });
    child.on("exit", () => {
      if (!isClosed && said.startsWith("done")) start();
    });
    return true;
  };
  return {
    start,
    close() {
      isClosed = true;
      child?.kill("SIGTERM");
    },
  };
}

/** A command as it is typed here: `tributary` may not be in the path of a checkout, and another port has to be named. */
function typed(context: Context, words: string, named: string[]): string {
  const [command, ...rest] = words.split(" ");
  const folder = join(context.examplesDir, "../bin");
  const isKnown = isRelease || (context.env["PATH"] ?? "").split(":").includes(folder);
  const near = relative("", join(folder, "tributary"));
  const path = near.startsWith("..") ? join(folder, "tributary") : near;
  const released = isRelease ? findLocalCommand(import.meta.url) : null;
  return [released ?? (isKnown ? "tributary" : path), command, ...named, ...rest].join(" ");
}

function printNext(context: Context, { url }: RunningServer, hasLive: boolean): void {
  // A command in another terminal does not know the address that was given here.
  const named = url === settings.server.default ? [] : ["--server", url];
  const bold = (text: string) => paint(context.stdout, context.env, "bold", text);
  const lines = [
    "",
    `${bold("Try")}     open ${url}/tour: six steps from a dip in a curve to its cause${hasLive ? ", and to the run that trains now" : ""}`,
    `        ${typed(context, "runs --sort metrics.val_loss.last --column metrics.val_loss.last", named)}`,
    `        ${typed(context, "sql 'SELECT key, count(), min(value) FROM metrics GROUP BY key'", named)}`,
    `        ${typed(context, "run -- python train.py", named)}`,
    `${bold("Stop")}    Ctrl-C`,
  ];
  for (const line of lines) printLine(context, line);
}
