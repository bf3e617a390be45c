// Compares every collector's answers in the end with the ledger.

import { setTimeout as sleep } from "node:timers/promises";
import { digest, type Ledger, nameOf } from "./jobs.ts";

export interface Verdict {
  /** Accepted, and not in a collector's answer; or changed in it. */
  readonly lost: string[];
  /** More than once in a collector's answer. */
  readonly doubled: string[];
  /** In a collector's answer, and never sent or deleted. */
  readonly invented: string[];
}

/** A run that was deleted while its job went on: what was accepted after the order. */
export interface Deleted {
  readonly run: string;
  readonly after: ReadonlySet<string>;
}

const minuteMs = 60_000;

export async function judge(urls: readonly string[], ledger: Ledger, deleted: readonly Deleted[]): Promise<Verdict> {
  const verdict: Verdict = { lost: [], doubled: [], invented: [] };
  for (const url of urls) await untilDrained(url);
  for (const url of urls) {
    for (const [run, records] of ledger.runs) await judgeRun(url, run, records, true, verdict);
    // Of what came before the order, a collector that could not be asked may have kept some.
    for (const { run, after } of deleted) await judgeRun(url, run, after, false, verdict);
    for (const [path, sha256] of ledger.files) {
      const answer = await fetch(url + path);
      const bytes = new Uint8Array(await answer.arrayBuffer());
      if (!answer.ok || digest(bytes) !== sha256) verdict.lost.push(`${url}${path}: ${answer.status}`);
    }
  }
  return verdict;
}

/** What waits for the engine and for its neighbours is stored, on however busy a machine. */
async function untilDrained(url: string): Promise<void> {
  const signal = AbortSignal.timeout(5 * minuteMs);
  let told = "no answer";
  while (!signal.aborted) {
    const answer = await fetch(`${url}/readyz?drained=1`, { signal }).catch(() => null);
    if (answer?.ok === true) return;
    told = (await answer?.text().catch(() => undefined)) ?? told;
    await sleep(200);
  }
  throw new Error(`${url} is not drained: ${told}`);
}

/** Collectors hear of each other's last records for a while. */
const settleMs = minuteMs;

async function judgeRun(
  url: string,
  run: string,
  wanted: ReadonlySet<string>,
  isWhole: boolean,
  { lost, doubled, invented }: Verdict,
): Promise<void> {
  const untilMs = performance.now() + settleMs;
  for (;;) {
    const names = await namesOf(url, run);
    const found = new Set(names);
    const missing = [...wanted.difference(found)];
    const twice = names.filter((name, at) => names.indexOf(name) !== at);
    const strange = isWhole ? [...found.difference(wanted)] : [];
    if (missing.length + twice.length + strange.length > 0 && performance.now() < untilMs) {
      await sleep(500);
      continue;
    }
    const tell = (name: string): string => `${run} ${name} at ${url}`;
    lost.push(...missing.map(tell));
    doubled.push(...twice.map(tell));
    invented.push(...strange.map(tell));
    return;
  }
}

/** The names of a run's records in a collector's answer, as often as they are there. */
async function namesOf(url: string, run: string): Promise<string[]> {
  const found: string[] = [];
  let cursor: string | null = "";
  while (cursor !== null) {
    const path: string = `${url}/api/v1/runs/${run}/events?limit=500${cursor === "" ? "" : `&cursor=${cursor}`}`;
    const answer = await fetch(path);
    if (answer.status !== 200) return [];
    const page = (await answer.json()) as { events: { text: string }[]; next: string | null };
    found.push(...page.events.flatMap(({ text }) => nameOf(text) ?? []));
    cursor = page.next;
  }
  return found;
}
