// What is done to a server while clients send to it. Each blow ends with the server ready again.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, fstatSync, openSync, readdirSync, readFileSync, readSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { damageOutbox, flipJournal, lastSegment } from "./damage.ts";
import type { Field } from "./deliver.ts";
import { hourOfTrouble } from "./hour-of-trouble.ts";
import type { Keeps } from "./power/cached-disk.ts";
import type { Part, Victim } from "./victim.ts";

type Random = () => number;
type Blow = (victim: Victim, random: Random, field: Field) => Promise<void>;

async function killServer(victim: Victim): Promise<void> {
  await victim.end("SIGKILL");
  await victim.start();
}

async function killEngine(victim: Victim): Promise<void> {
  victim.signal("engine", "SIGKILL");
  await victim.ready();
}

async function killBoth(victim: Victim): Promise<void> {
  victim.signal("engine", "SIGKILL");
  await killServer(victim);
}

async function killWhileStarting(victim: Victim, random: Random): Promise<void> {
  await victim.end("SIGKILL");
  victim.launch();
  await sleep(random() * 1500);
  await killServer(victim);
}

async function stopAndStart(victim: Victim): Promise<void> {
  await victim.end("SIGTERM");
  await victim.start();
}

/** A stopped engine is replaced after ten seconds; a shorter stop is waited out. */
function freeze(part: Part, longestMs: number): Blow {
  return async (victim, random) => {
    victim.signal(part, "SIGSTOP");
    await sleep(random() * longestMs);
    victim.signal(part, "SIGCONT");
    await victim.ready();
  };
}

/** As when the power went in the middle of a write: bytes that nobody was told about, behind the last record. */
async function tearTail(victim: Victim, random: Random): Promise<void> {
  await victim.end("SIGKILL");
  const file = openSync(lastSegment(victim.dataDir), "a+");
  try {
    const { size } = fstatSync(file);
    const torn = Buffer.alloc(Math.min(size, 1 + Math.floor(random() * 4000)));
    // The beginning of an older record is what a half-written one looks like.
    readSync(file, torn, 0, torn.length, Math.floor(random() * (size - torn.length)));
    writeSync(file, torn);
  } finally {
    closeSync(file);
  }
  await victim.start();
}

/** With records that are accepted and not stored: nothing is stored while the engine stands still. */
async function killWithBacklog(victim: Victim, random: Random): Promise<void> {
  victim.signal("engine", "SIGSTOP");
  await sleep(300 + random() * 1000);
  victim.signal("engine", "SIGKILL");
  await victim.end("SIGKILL");
}

/** One record is damaged. It alone may be lost, and the server says so. */
async function flipJournalByte(victim: Victim, random: Random, { ledger, commands }: Field): Promise<void> {
  await killWithBacklog(victim, random);
  const damaged = await flipJournal(victim.dataDir, random);
  for (const { kind, id } of damaged?.noted ?? [])
    if (kind === "command") commands.mayLose(id);
    else ledger.mayLose(kind, id);
  await victim.start();
  if (!damaged?.isOnlyCopy) return;
  const said = await victim.sentences();
  for (const text of [said.readiness, said.page])
    if (!text.includes("could not be read back")) throw new Error(`a damaged record is not told: ${text}`);
}

/** The server makes the outbox's content again from the journal. */
async function damageTheOutbox(victim: Victim, random: Random): Promise<void> {
  await killWithBacklog(victim, random);
  damageOutbox(victim.dataDir, random);
  await victim.start();
}

const day = 86_400;
const jumps = [0, 90, -90, 3600, -3600, 400 * day, -400 * day];

/** The time of day jumps, under a running server or before its next start. */
async function jumpClock(victim: Victim, random: Random): Promise<void> {
  const seconds = jumps[Math.floor(random() * jumps.length)] as number;
  if (random() < 0.5) {
    await victim.end("SIGKILL");
    victim.setClock(seconds);
    await victim.start();
  } else {
    victim.setClock(seconds);
    await sleep(1500);
    await victim.ready();
  }
}

/** For some seconds the engine runs only a tenth of the time. */
async function slowEngine(victim: Victim, random: Random): Promise<void> {
  for (const until = Date.now() + 3000 + random() * 9000; Date.now() < until; ) {
    victim.signal("engine", "SIGSTOP");
    await sleep(900);
    victim.signal("engine", "SIGCONT");
    await sleep(100);
  }
  await victim.ready();
}

/** Fills the file system to the last byte. Returns a function that frees it again. */
function fill({ dataDir }: Victim): () => void {
  const path = join(dataDir, "filler");
  const file = openSync(path, "w");
  try {
    for (const zeros = Buffer.alloc(1 << 20); ; ) writeSync(file, zeros);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
  } finally {
    closeSync(file);
  }
  return () => rmSync(path);
}

/** The file system of the folder runs full for a few seconds. */
async function fillDisk(victim: Victim, random: Random): Promise<void> {
  const free = fill(victim);
  await sleep(500 + random() * 3000);
  free();
  await victim.ready();
}

/** With plans and records that it cannot store. */
async function startOnFullDisk(victim: Victim, random: Random): Promise<void> {
  await killWithBacklog(victim, random);
  const free = fill(victim);
  victim.launch();
  await sleep(1000 + random() * 4000);
  free();
  await victim.ready();
}

/** Takes a backup while clients send, without other blows, which would only cut it off. */
async function takeBackup(_victim: Victim, _random: Random, { backups }: Field): Promise<void> {
  await backups.awaitOne();
}

const failures = [
  ["fdatasync,fsync", "EIO"],
  ["fdatasync,fsync", "ENOSPC"],
  ["pwrite64,pwritev,pwritev2", "ENOSPC"],
  ["pwrite64,pwritev,pwritev2", "EIO"],
  ["openat", "EMFILE"],
] as const;

/** From a random one on, every third call of a kind fails for a while; an engine whose calls fail refuses. */
function failCalls(part: Part): Blow {
  return async (victim, random) => {
    const [calls, error] = failures[Math.floor(random() * failures.length)] as (typeof failures)[number];
    const inject = `inject=${calls}:error=${error}:when=${1 + Math.floor(random() * 5)}+3`;
    const pid = part === "server" ? victim.pid : victim.enginePid;
    const words = ["-f", "-p", String(pid), "-o", "/dev/null", "-e", `trace=${calls}`, "-e", inject];
    const tracer = spawn("strace", words, { stdio: "ignore" });
    const ended = once(tracer, "exit");
    await sleep(500 + random() * 2500);
    tracer.kill("SIGINT");
    await ended;
    await victim.ready();
  };
}

const sectorsOfPage = 8;
const survivals = [1, 0, 0.5];

/** The disk keeps all it had in its cache, nothing of it, or some writes, pages or sectors of it. */
function createKeeps(random: Random): Keeps {
  const survival = survivals[Math.floor(random() * (survivals.length + 1))] ?? random();
  const sectorsTogether = [1, sectorsOfPage, Number.POSITIVE_INFINITY][Math.floor(random() * 3)] as number;
  let [last, isKept] = ["", false];
  return (write, sector) => {
    const piece = `${write} ${Math.floor(sector / sectorsTogether)}`;
    if (piece !== last) [last, isKept] = [piece, random() < survival];
    return isKept;
  };
}

/** What others were told, and would be refused with if it changed. */
function readSecrets({ dataDir }: Victim): string {
  const names = readdirSync(dataDir).filter((name) => name.endsWith("-secret"));
  return names.map((name) => `${name} ${readFileSync(join(dataDir, name), "base64")}`).join("\n");
}

/** Nothing that the server says afterwards can rest on a sync that the disk did not finish before. */
async function losePower(victim: Victim, random: Random, { disk, ledger }: Field): Promise<void> {
  if (disk === null) throw new Error("there is no disk whose power could be cut");
  const secrets = readSecrets(victim);
  disk.stop();
  victim.signal("engine", "SIGKILL");
  const ended = victim.end("SIGKILL");
  await disk.pullOut();
  await ended;
  await disk.comeBack(createKeeps(random));
  await victim.start();
  if (readSecrets(victim) !== secrets) throw new Error("a secret of the data folder is not what it was");
  await ledger.lookForCopies(victim.url);
}

async function losePowerWhileStarting(victim: Victim, random: Random, field: Field): Promise<void> {
  await victim.end("SIGKILL");
  victim.launch();
  await sleep(random() * 1500);
  await losePower(victim, random, field);
}

/** With plans and records that are not stored, and an engine that then gets them all at once. */
async function losePowerWhileCatchingUp(victim: Victim, random: Random, field: Field): Promise<void> {
  victim.signal("engine", "SIGSTOP");
  await sleep(1000 + random() * 2000);
  victim.signal("engine", "SIGCONT");
  await sleep(random() * 1500);
  await losePower(victim, random, field);
}

/** Only where the folder lies on a disk whose power can be cut. */
export const cutPower: readonly string[] = ["lose power", "lose power while starting", "lose power while catching up"];
/** Only where the folder lies on a small file system of its own. */
export const onSmallDisks: readonly string[] = ["fill the disk", "start on a full disk"];
/** Only where strace is installed and may attach. */
export const failSystemCalls: readonly string[] = ["fail the server's calls", "fail the engine's calls"];

export const blows: Readonly<Record<string, Blow>> = {
  "kill the server": killServer,
  "kill the engine": killEngine,
  "kill both": killBoth,
  "kill while starting": killWhileStarting,
  "stop and start": stopAndStart,
  "freeze the engine": freeze("engine", 14_000),
  "freeze the server": freeze("server", 4000),
  "slow the engine": slowEngine,
  "tear the journal's tail": tearTail,
  "flip a byte of the journal": flipJournalByte,
  "damage the outbox": damageTheOutbox,
  "jump the clock": jumpClock,
  "trouble the engine for an hour": hourOfTrouble,
  "take a whole backup": takeBackup,
  "lose power": losePower,
  "lose power while starting": losePowerWhileStarting,
  "lose power while catching up": losePowerWhileCatchingUp,
  "fill the disk": fillDisk,
  "start on a full disk": startOnFullDisk,
  "fail the server's calls": failCalls("server"),
  "fail the engine's calls": failCalls("engine"),
};
