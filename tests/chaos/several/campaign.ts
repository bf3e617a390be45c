// Rounds of trouble for three collectors on one store while jobs of all protocols send and people delete, judged by a ledger
// outside of them.

import { randomBytes, randomInt } from "node:crypto";
import { createRandom } from "../../support/random-inputs.ts";
import { Ledger, protocols } from "./jobs.ts";
import { type Deleted, judge, type Verdict } from "./judge.ts";
import { type Trouble, troubles } from "./troubles.ts";
import { openWorld } from "./world.ts";

export interface SeveralOptions {
  readonly rounds: number;
  readonly seed: number;
  /** The troubles to choose from, by name; all of them otherwise. */
  readonly only?: readonly string[];
  /** No trouble after this many minutes, even if rounds are left. */
  readonly minutesMax?: number;
  onRound?(line: string): void;
}

export interface SeveralReport {
  readonly verdict: Verdict;
  readonly rounds: Readonly<Record<string, number>>;
  readonly records: number;
  /** Of these, how many were given to a second collector too. */
  readonly copies: number;
  readonly files: number;
  readonly runs: number;
  readonly deletions: number;
}

/** Of each protocol. */
const recordsARound = 12;
const filesARound = 2;
/** How many runs each protocol has, each written by all collectors. */
const runsOfEach = 3;
const recordsBeforeDeletion = 5;

export async function runSeveral(options: SeveralOptions): Promise<SeveralReport> {
  const { rounds, seed, only, minutesMax = Number.POSITIVE_INFINITY, onRound } = options;
  const random = createRandom(seed);
  const names = only ?? Object.keys(troubles);
  const counts: Record<string, number> = {};
  const deleted: Deleted[] = [];
  const world = await openWorld();
  try {
    const urls = world.members.map(({ process }) => process.url);
    const ledger = new Ledger(urls);
    const untilMs = performance.now() + minutesMax * 60_000;
    for (let round = 1; round <= rounds && performance.now() < untilMs; round++) {
      const name = names[Math.floor(random() * names.length)] as string;
      const beganMs = performance.now();
      await Promise.all([(troubles[name] as Trouble)(world, random), ...sendAll(ledger)]);
      counts[name] = (counts[name] ?? 0) + 1;
      if (round % 5 === 0) deleted.push(...(await deleteInBetween(ledger)));
      onRound?.(`${round}: ${name}, ${((performance.now() - beganMs) / 1000).toFixed(1)} s`);
    }
    const records = [...ledger.runs.values(), ...deleted.map(({ after }) => after)];
    const verdict = await judge(urls, ledger, deleted);
    return {
      verdict,
      rounds: counts,
      records: records.reduce((sum, { size }) => sum + size, 0),
      copies: ledger.copies,
      files: ledger.files.size,
      runs: ledger.runs.size,
      deletions: deleted.length,
    };
  } finally {
    await world.close();
  }
}

function sendAll(ledger: Ledger): Promise<void>[] {
  const sending = Array.from({ length: filesARound }, () => ledger.sendFile());
  for (const protocol of protocols)
    for (let at = 0; at < recordsARound; at++)
      sending.push(ledger.send(protocol, `${protocol}-${randomInt(runsOfEach)}`));
  return sending;
}

/** A run of any protocol is deleted while its job goes on. */
async function deleteInBetween(ledger: Ledger): Promise<Deleted[]> {
  const protocol = protocols[randomInt(protocols.length)] as (typeof protocols)[number];
  const run = `gone-${randomBytes(3).toString("hex")}`;
  const sendSome = async (): Promise<void> => {
    for (let at = 0; at < recordsBeforeDeletion; at++) await ledger.send(protocol, run);
  };
  await sendSome();
  if (!(await ledger.remove(run))) return [];
  await sendSome();
  const after = new Set(ledger.runs.get(run));
  ledger.runs.delete(run);
  return [{ run, after }];
}
