// tributary demo: a server with a real sample in it, and a program that runs now.

import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import type { Command } from "commander";
import { createClient } from "#cli/client.ts";
import { type Context, paint, type RunningServer } from "#cli/context.ts";
import { formatBytes, formatCount } from "#cli/format.ts";
import { importPaths } from "#cli/import/import.ts";
import { addServeOptions, type SharedOptions, toConfig } from "#cli/options.ts";
import { printLine } from "#cli/print.ts";
import { createLog } from "#server/log.ts";
import { printAddresses, waitForStop } from "./up.ts";

interface DemoOptions extends SharedOptions {
  readonly live: boolean;
}

const demoFolder = ".tributary-demo";

// A small training that can be steered while it runs. Node does not run TypeScript inside node_modules, so a release
// has it built, beside the rest of the program.
const isRelease = !import.meta.url.endsWith(".ts");
const liveProgram = isRelease ? "../dist/examples/steerable-job.js" : "steerable-job/job.ts";

export function addDemo(program: Command, context: Context): void {
  const command = program
    .command("demo")
    .summary("see it with a real sample")
    .description(
      "Starts a server in a folder of its own, loads traces of real GPU trainings into it, and starts one small training to " +
        "watch and steer.",
    )
    .option("--no-live", "without the training that runs now")
    .addHelpText("after", "\nExample:\n  tributary demo\n");
  addServeOptions(command, demoFolder).action(async (options: DemoOptions) => {
    const config = toConfig(context, { data: demoFolder, ...options });
    const level = options.verbose ? "debug" : options.quiet ? "error" : "warn";
    const server = await context.openServer(config, createLog({ level, format: config.logFormat }));
    let live: ChildProcess | undefined;
    try {
      await loadSample(context, server);
      live = options.live ? startLive(context, server) : undefined;
      printAddresses(context, server, config.dataDir);
      printNext(context, server, config.server, live !== undefined);
      await waitForStop(context.stop);
    } finally {
      live?.kill("SIGTERM");
      await server.close();
    }
  });
}

async function loadSample(context: Context, server: RunningServer): Promise<void> {
  const began = performance.now();
  const client = createClient(server.url, "");
  const paths = [join(context.examplesDir, "data")];
  const { stop } = context;
  const result = await importPaths({ client, paths, speed: "instant", follow: false, stop });
  const { total } = await client.call("runs", { query: { limit: 1 } });
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  const what = `${formatCount(result.files, "file")} of real GPU trainings, ${formatBytes(result.bytes)}`;
  printLine(context, `Loaded ${what}: ${formatCount(total, "run")} in ${seconds} s.\n`);
}

function startLive(context: Context, server: RunningServer): ChildProcess | undefined {
  const program = join(context.examplesDir, liveProgram);
  const address = server.xtrack[0];
  if (!existsSync(program) || address === undefined) return undefined;
  const at = address.lastIndexOf(":");
  const env = {
    ...context.env,
    TRIBUTARY_SERVER: server.url,
    XTRACK_TRANSPORT: "tcp",
    XTRACK_HOST: address.slice(0, at).replace(/^\[|\]$/g, ""),
    XTRACK_PORT: address.slice(at + 1),
  };
  return spawn(process.execPath, [program], { env: env as NodeJS.ProcessEnv, stdio: "ignore" });
}

/** How a command is typed here: a checkout may have no `tributary` in its path, and another port has to be named. */
function typed(context: Context, words: string, named: string[]): string {
  const [command, ...rest] = words.split(" ");
  const folder = join(context.examplesDir, "../bin");
  const isKnown = isRelease || (context.env["PATH"] ?? "").split(":").includes(folder);
  return [isKnown ? "tributary" : relative("", join(folder, "tributary")), command, ...named, ...rest].join(" ");
}

function printNext(context: Context, { url }: RunningServer, usual: string, hasLive: boolean): void {
  const named = url === usual ? [] : ["--server", url];
  const bold = (text: string) => paint(context.stdout, context.env, "bold", text);
  const lines = [
    "",
    `${bold("Try")}     open ${url} and look at the sweep: one run diverged to NaN, one failed`,
    ...(hasLive ? [`        watch the run that trains now, and pause it from its Control page`] : []),
    `        ${typed(context, "runs --sort metrics.val_loss.last --column metrics.val_loss.last", named)}`,
    `        ${typed(context, "sql 'SELECT key, count(), min(value) FROM metrics GROUP BY key'", named)}`,
    `        ${typed(context, "run -- python train.py", named)}`,
    `${bold("Stop")}    Ctrl-C`,
  ];
  for (const line of lines) printLine(context, line);
}
