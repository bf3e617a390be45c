// tributary run: a program under capture.

import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import type { Command } from "commander";
import { toSegment } from "#api/contract/segment.ts";
import { type Client, createClient } from "#cli/client.ts";
import { answers, type ConnectOptions } from "#cli/connect.ts";
import { type Context, paint } from "#cli/context.ts";
import { Exit, exitCodes } from "#cli/exit.ts";
import { importPaths } from "#cli/import/import.ts";
import { addConnectOptions, collect, toConfig, toRunId } from "#cli/options.ts";
import { keyFor } from "#cli/own-key.ts";
import { takeLeftEvents } from "#cli/run/left-events.ts";
import { replaySpool } from "#cli/run/spool.ts";
import { wrap } from "#cli/run/wrap.ts";
import { duration } from "#config/kinds.ts";

const queryableMs = 3000;
/** So long the program waits for the server at most. */
const startMs = 2000;
/** A server that takes longer for an answer counts as away: the program comes first. */
const answerMs = 10_000;

interface RunOptions extends ConnectOptions {
  readonly runId?: string;
  readonly name?: string;
  readonly sample: string;
  readonly watch?: string[];
  readonly quiet?: boolean;
}

export function addRun(program: Command, context: Context): void {
  const command = program
    .command("run")
    .summary("run a program and record it")
    .description(
      "Runs a program and records what it traces, by Cirron, Semantiva or XTrack, its output as logs, its exit code as status " +
        "and what the machine did. Exits as the program did. Without a server everything is kept and taken in later.",
    )
    .argument("<command...>", "the program and its arguments, after --")
    .option("--run-id <id>", "the run's id (default: CIRRON_RUN_ID, else a new one)", toRunId)
    .option("--name <name>", "the run's name (default: the program's)")
    .option("--sample <time>", "how often CPU, memory and GPU are sampled, or off", "2s")
    .option("--watch <path>", "also follow this trace file or folder (may be repeated)", collect)
    .option("--quiet", "print nothing but what the program prints")
    .passThroughOptions()
    .addHelpText("after", "\nExample:\n  tributary run -- python train.py --lr 0.1\n");
  addConnectOptions(command).action(async (words: string[], options: RunOptions) => {
    const config = toConfig(context, options);
    // A person who has named the run for the Cirron SDK means this one.
    const runId = options.runId ?? toRunId(context.env["CIRRON_RUN_ID"] || createRunId());
    const sampleMs = toSampleMs(options.sample);
    const client = createClient(config.server, keyFor(config, config.server), { answerMs });
    const say = (text: string) => {
      if (!options.quiet) context.stderr.write(`${paint(context.stderr, context.env, "dim", `tributary: ${text}`)}\n`);
    };
    const up = await answers(config.server, startMs);
    const tidied = up ? takeEarlier(client, context, config.dataDir) : Promise.resolve();
    say(up ? `run ${runId} at ${config.server}/runs/${toSegment(runId)}` : `run ${runId}; no server answers yet`);
    const startedMs = Date.now();
    const watching = follow(context, options, client, runId);
    const result = await wrap({
      context,
      client,
      key: keyFor(config, config.server),
      command: words,
      runId,
      name: options.name ?? toName(words),
      dataDir: config.dataDir,
      sampleMs,
    });
    await watching.stop();
    await tidied;
    if (result.problem !== "") context.stderr.write(`tributary: ${result.problem}\n`);
    const { spooled, lost } = result.left;
    if (lost > 0) context.stderr.write(`tributary: ${lost} requests are lost: no server took them, nor did the disk\n`);
    if (spooled + lost === 0) {
      await importLeftSpool(client, runId, startedMs).catch(({ message }: Error) =>
        say(`what the Cirron SDK left is not taken in: ${message} Later: tributary import --run-id ${runId} .cirron`),
      );
      // The next question finds the run as it ended; a busy server is not waited for longer than this.
      const signal = AbortSignal.timeout(queryableMs);
      await client.open("readyz", { query: { drained: "1" } }, { signal }).catch(() => undefined);
    } else if (spooled > 0)
      say(`${spooled} requests wait in ${config.dataDir}; the next \`tributary up\` or \`run\` takes them in`);
    if (result.exitCode !== 0) throw new Exit(result.exitCode, "");
  });
}

/** What earlier programs recorded while no server was there. The program that is to run now does not wait for it. */
async function takeEarlier(client: Client, context: Context, dataDir: string): Promise<void> {
  await replaySpool(client, dataDir).catch(() => 0);
  await takeLeftEvents(client, context, false).catch(() => undefined);
}

/** Sorts by time, and two that start in the same second differ. */
function createRunId(): string {
  const time = new Date().toISOString().replace(/[-:]/g, "").replace("T", "-").slice(0, 15);
  return `run-${time}-${randomBytes(3).toString("hex")}`;
}

function toName(words: readonly string[]): string {
  return words
    .map((word) => basename(word))
    .join(" ")
    .slice(0, 200);
}

function toSampleMs(text: string): number {
  const ms = text === "off" ? 0 : duration.read(text);
  if (ms === undefined) throw new Exit(exitCodes.usage, `--sample must be ${duration.allowed}, or off.`);
  return ms;
}

function follow(context: Context, { watch }: RunOptions, client: Client, runId: string) {
  if (!watch) return { stop: async () => undefined };
  const done = new AbortController();
  const { signal: stop } = done;
  const following = importPaths({ client, paths: watch, runId, speed: "instant", follow: true, waits: false, stop });
  following.catch((error: Error) => {
    const later = `tributary import --run-id ${runId} ${watch.join(" ")}`;
    context.stderr.write(`tributary: not all that was watched is taken in: ${error.message} Later: ${later}\n`);
  });
  return {
    stop: async () => {
      done.abort();
      await following.catch(() => undefined);
    },
  };
}

/** The Cirron SDK leaves its last batches, with the session span, in its spool and sends them nowhere. */
async function importLeftSpool(client: Client, runId: string, startedMs: number): Promise<void> {
  const spool = join(process.cwd(), ".cirron");
  if (!existsSync(spool)) return;
  const startedNs = BigInt(startedMs) * 1_000_000n;
  // The Ctrl-C that ended the program must not stop this import.
  const { signal: stop } = new AbortController();
  const isOfThisRun = (path: string) => {
    const createdNs = /(?:^|\/)(\d{20})-[0-9a-f]{32}\.json$/.exec(path)?.[1];
    return createdNs === undefined ? path.endsWith(".safetensors") : BigInt(createdNs) >= startedNs;
  };
  await importPaths({
    client,
    paths: [spool],
    runId,
    speed: "instant",
    follow: false,
    waits: false,
    stop,
    only: isOfThisRun,
    live: true,
  });
}
