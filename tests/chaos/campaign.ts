// Rounds of blows against a real server while clients of all protocols send to it, judged by a ledger outside of it.

import { execFileSync, spawnSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createRandom } from "../support/random-inputs.ts";
import { Backups } from "./backups.ts";
import { blows, cutPower, failSystemCalls, onSmallDisks } from "./blows.ts";
import { CommandLedger } from "./command-ledger.ts";
import { listCommands, sendCommands, steeredRun } from "./commander.ts";
import type { Field } from "./deliver.ts";
import { Ledger, type Verdict, type Wrong } from "./ledger.ts";
import { sendExports } from "./otlp-senders.ts";
import { type FileSystem, PoweredDisk } from "./power/powered-disk.ts";
import { sendAndDelete, sendBlobs, sendNodes, sendSpans } from "./senders.ts";
import { type Program, type Start, Victim } from "./victim.ts";
import { sendPoints } from "./workers.ts";

export interface CampaignOptions {
  readonly rounds: number;
  readonly seed: number;
  /** The blows to choose from, by name; otherwise all of them, or losses of power where the disk can have them. */
  readonly only?: readonly string[];
  /** Go through the blows in order instead of at random. */
  readonly isInOrder?: boolean;
  /** The campaign does not end before this many records were acknowledged. */
  readonly recordsMin?: number;
  /** No blow after this many minutes, even if rounds are left. */
  readonly minutesMax?: number;
  /** Bytes of a file system in memory that the folder lies on, which only root can make; the disk otherwise. */
  readonly diskBytes?: number;
  /** The folder lies on a disk of its own with such a file system, whose power can be cut, which only root can make. */
  readonly power?: FileSystem;
  /** What each client waits after a request; without it they send as fast as the server takes it. */
  readonly pauseMs?: number;
  /** What is struck; the sources unless said. */
  readonly program?: Program;
  onRound?(line: string): void;
}

export interface Report {
  readonly verdict: Verdict;
  readonly rounds: Readonly<Record<string, number>>;
  readonly starts: readonly Start[];
  readonly commands: ReturnType<CommandLedger["counts"]>;
  readonly backups: { readonly whole: number; readonly late: number };
  /** Of the disk whose power was cut: sectors that it had not flushed at that moment, and how many of them it lost. */
  readonly sectors: PoweredDisk["sectors"];
}

export async function runCampaign(options: CampaignOptions): Promise<Report> {
  const dataDir = await mkdtemp(join(tmpdir(), "tributary-chaos-"));
  const { diskBytes, power } = options;
  if (diskBytes !== undefined) execFileSync("mount", ["-t", "tmpfs", "-o", `size=${diskBytes}`, "tmpfs", dataDir]);
  const disk = power === undefined ? null : await PoweredDisk.create(dataDir, power);
  const victim = await Victim.create(dataDir, options.program);
  const stop = new AbortController();
  const commands = new CommandLedger(victim);
  const backups = new Backups(dataDir);
  const { pauseMs = 0 } = options;
  const field: Field = { victim, ledger: new Ledger(), commands, backups, disk, pauseMs, stopped: stop.signal };
  try {
    await victim.start();
    const senders = sendAll(field);
    const rounds = await Promise.race([strike(field, options), failOf(senders)]);
    stop.abort();
    await senders;
    const verdict = await judge(field);
    return {
      verdict,
      rounds,
      starts: victim.starts,
      commands: commands.counts(),
      backups,
      sectors: disk?.sectors ?? { cached: 0, lost: 0 },
    };
  } finally {
    stop.abort();
    // One that stands still would outlive its server.
    victim.signal("engine", "SIGKILL");
    await victim.end("SIGKILL");
    victim.forget();
    backups.forget();
    await disk?.remove();
    if (diskBytes !== undefined) execFileSync("umount", ["--lazy", dataDir]);
    await rm(dataDir, { recursive: true, force: true });
  }
}

function sendAll(field: Field): Promise<unknown> {
  const workers = [
    ...["w0", "w1", "w2"].map((wid) => ({ runId: "steady", wid })),
    { runId: "steady", wid: "ws", by: "websocket" as const },
    { runId: steeredRun, wid: "w0", isSteered: true },
  ];
  return Promise.all([
    ...[1, 2, 3].map((process) => sendSpans(field, process)),
    ...["a", "b"].map((name) => sendNodes(field, name)),
    ...(["json", "protobuf"] as const).map((encoding) => sendExports(field, encoding)),
    ...workers.map((plan) => sendPoints(field, plan)),
    sendCommands(field),
    sendAndDelete(field),
    sendBlobs(field),
    field.backups.take(field),
  ]);
}

async function judge(field: Field): Promise<Verdict> {
  const { victim, ledger } = field;
  const drained = await fetch(`${victim.url}/readyz?drained=1`);
  if (!drained.ok) throw new Error(`not drained: ${await drained.text()}`);
  const verdict = await ledger.judge(victim.url);
  await judgeCommands(field, verdict);
  await field.backups.judge(ledger, verdict, victim.program);
  return verdict;
}

/** What a worker answered is a step of its own, which comes a moment later. */
async function judgeCommands(field: Field, verdict: Wrong): Promise<void> {
  for (const until = performance.now() + 30_000; ; await sleep(200)) {
    const listed = await listCommands(field);
    if (listed === null || (!field.commands.isSettled(listed) && performance.now() < until)) continue;
    field.commands.judge(listed, verdict);
    return;
  }
}

/** A client that meets an answer it cannot explain ends the campaign. */
function failOf(senders: Promise<unknown>): Promise<never> {
  return new Promise((_, reject) => void senders.catch(reject));
}

/** The blows that are possible on this machine. */
function possibleBlows({ diskBytes, power }: CampaignOptions): readonly string[] {
  if (power !== undefined) return cutPower;
  const canTrace = spawnSync("strace", ["-V"]).status === 0;
  return Object.keys(blows).filter((name) => {
    if (onSmallDisks.includes(name)) return diskBytes !== undefined;
    if (cutPower.includes(name)) return false;
    return canTrace || !failSystemCalls.includes(name);
  });
}

/** A round that takes longer is worth a reason. */
const slowS = 15;
/** The aim for a start. */
export const slowStartMs = 5000;

async function strike(field: Field, options: CampaignOptions): Promise<Record<string, number>> {
  const random = createRandom(options.seed);
  const names = options.only ?? possibleBlows(options);
  const counts: Record<string, number> = {};
  const hasEnough = (): boolean => field.ledger.acknowledged >= (options.recordsMin ?? 0);
  const untilMs = performance.now() + (options.minutesMax ?? Number.POSITIVE_INFINITY) * 60_000;
  for (let round = 1; (round <= options.rounds || !hasEnough()) && performance.now() < untilMs; round++) {
    await sleep(200 + random() * 1000);
    const at = options.isInOrder === true ? (round - 1) % names.length : Math.floor(random() * names.length);
    const name = names[at] as string;
    const began = performance.now();
    const blow = `${round}: ${name}`;
    field.victim.blow = blow;
    await blows[name]?.(field.victim, random, field);
    counts[name] = (counts[name] ?? 0) + 1;
    const tookS = (performance.now() - began) / 1000;
    const why = tookS > slowS ? `, before that it said ${field.victim.said}` : "";
    const slowStarts = field.victim.starts.filter(({ after, tookMs }) => after === blow && tookMs > slowStartMs);
    const { acknowledged } = field.ledger;
    options.onRound?.(`${blow}, ready after ${tookS.toFixed(1)} s${why}, ${acknowledged} acknowledged`);
    for (const { log } of slowStarts) for (const line of log) options.onRound?.(line);
  }
  return counts;
}
