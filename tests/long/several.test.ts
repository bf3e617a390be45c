// Three collectors, one store, a bus and a bucket, all of which are killed, stopped and cut off at random while jobs send and
// people delete. A ledger outside says what was accepted: all of it is there at the end, once, in the answers of each.

import { randomBytes, randomInt } from "node:crypto";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type EmbeddedEngine, startEmbedded } from "#store/embedded.ts";
import { encodeFrame } from "#wire/xtrack/encode.ts";
import { hex, toBatchText } from "../support/cirron-batch.ts";
import { CollectorProcess } from "../support/collector-process.ts";
import { type S3Server, startS3 } from "../support/s3-server.ts";
import { eventually, freePort, type NatsServer, natsPath, startNats } from "../support/several.ts";
import { openTcpDoor, type TcpDoor } from "../support/tcp-door.ts";

/** One execution of a node, as Semantiva's own driver wrote it. */
const lineTemplate = readFileSync(join(import.meta.dirname, "../../examples/data/semantiva/sweep.trace.jsonl"), "utf8")
  .split("\n")
  .filter((line) => line.includes('"record_type": "ser"'))
  .map((line) => JSON.parse(line) as { identity: object })[0] as { identity: object };

const rounds = Number(process.env["LONG_TEST_ROUNDS"] ?? 60);
const recordsPerRound = 12;
const minuteMs = 60_000;

let folder: string;
let nats: NatsServer;
let engine: EmbeddedEngine;
let door: TcpDoor;
let doorPort: number;
let bucket: S3Server;
let collectors: CollectorProcess[];

beforeAll(async () => {
  if (natsPath === undefined) return;
  folder = await mkdtemp(join(tmpdir(), "tributary-long-"));
  [nats, bucket] = await Promise.all([startNats(), startS3()]);
  engine = await startEmbedded({ kind: "embedded", dataDir: join(folder, "store") });
  doorPort = await freePort();
  door = await openTcpDoor(engine.socketPath, doorPort);
  const env = {
    TRIBUTARY_STORE_URL: door.url,
    TRIBUTARY_STORE_GUEST_USER: "guest",
    TRIBUTARY_BUS_URL: nats.url,
    TRIBUTARY_BLOBS_KIND: "s3",
    TRIBUTARY_BLOBS_ENDPOINT: bucket.url,
    TRIBUTARY_BLOBS_BUCKET: "traces",
    TRIBUTARY_BLOBS_ACCESS_KEY: "key",
    TRIBUTARY_BLOBS_SECRET_KEY: "secret",
  };
  collectors = [];
  for (const name of ["a", "b", "c"]) collectors.push(await CollectorProcess.make(join(folder, name), env));
  await Promise.all(collectors.map((collector) => collector.start()));
}, 2 * minuteMs);
afterAll(async () => {
  await Promise.all((collectors ?? []).map((collector) => collector.kill()));
  door?.close();
  await engine?.close();
  await nats?.kill();
  await bucket?.close();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
});

const pick = <T>(list: readonly T[]): T => list[randomInt(list.length)] as T;

/** Sends until a collector accepts; one in ten goes to a second one too. */
async function accept(path: string, body: string | Uint8Array, type: string): Promise<void> {
  for (let copies = randomInt(10) === 0 ? 2 : 1; copies > 0; ) {
    const stop = AbortSignal.timeout(5000);
    const options = { method: "POST", body: body as string, headers: { "content-type": type }, signal: stop };
    const answer = await fetch(`${pick(collectors).url}${path}`, options).catch(() => null);
    await answer?.arrayBuffer().catch(() => undefined);
    if (answer?.status === 202) copies--;
    else await sleep(200);
  }
}

/** What was accepted, by run: the names of its records. */
class Ledger {
  readonly cirron = new Map<string, Set<string>>();
  readonly xtrack = new Map<string, Set<string>>();
  readonly semantiva = new Map<string, Set<string>>();
  private seq = 0;

  async sendSpan(run: string): Promise<void> {
    const at = ++this.seq;
    const span = { id: `${run}${at}`, parent: null, name: "step", at };
    await accept(`/v1/runs/${run}/traces`, toBatchText(`${run}${at}`, [span]), "application/json");
    note(this.cirron, run, hex(span.id));
  }

  async sendPoint(run: string): Promise<void> {
    const seq = ++this.seq;
    const meta = { seq, ts: 1794710321102255 + seq, wid: `w${randomInt(3)}` };
    const frame = encodeFrame("metric", meta, { run_id: run, key: "loss", value: seq, step: seq });
    await accept("/v1/xtrack", frame, "application/octet-stream");
    note(this.xtrack, run, String(seq));
  }

  async sendLine(run: string): Promise<void> {
    const node = `node-${++this.seq}`;
    const identity = { ...lineTemplate.identity, run_id: run, node_id: node };
    const line = { ...lineTemplate, run_id: run, identity };
    await accept("/v1/trace-stream", `${JSON.stringify(line)}\n`, "application/x-ndjson");
    note(this.semantiva, run, node);
  }
}

function note(runs: Map<string, Set<string>>, run: string, record: string): void {
  const records = runs.get(run) ?? new Set();
  runs.set(run, records.add(record));
}

/** Something breaks, and is there again some seconds later. */
async function disturb(): Promise<void> {
  const pauseMs = 500 + randomInt(3000);
  const collector = pick(collectors);
  switch (randomInt(5)) {
    case 0:
      await collector.kill();
      await sleep(pauseMs / 4);
      await collector.start();
      break;
    case 1:
      collector.signal("SIGSTOP");
      await sleep(pauseMs * 2);
      collector.signal("SIGCONT");
      break;
    case 2:
      await nats.kill();
      await sleep(pauseMs);
      await nats.start();
      break;
    case 3:
      process.kill(engine.pid as number, "SIGKILL");
      await sleep(pauseMs);
      await engine.whenReady();
      break;
    default:
      door.close();
      await sleep(pauseMs);
      door = await openTcpDoor(engine.socketPath, doorPort);
  }
}

/** Deletes at a collector that answers. */
async function removeRun(run: string): Promise<boolean> {
  for (let attempt = 0; attempt < 50; attempt++) {
    const options = { method: "DELETE", signal: AbortSignal.timeout(10_000) };
    const answer = await fetch(`${pick(collectors).url}/api/v1/runs/${run}`, options).catch(() => null);
    if (answer?.status === 200) return true;
    await sleep(200);
  }
  return false;
}

async function recordsOf(url: string, run: string): Promise<string[]> {
  const found: string[] = [];
  let cursor: string | null = "";
  while (cursor !== null) {
    const path: string = `${url}/api/v1/runs/${run}/events?limit=500${cursor === "" ? "" : `&cursor=${cursor}`}`;
    const answer = await fetch(path);
    if (answer.status !== 200) return [];
    const page = (await answer.json()) as { events: { text: string }[]; next: string | null };
    found.push(...page.events.map(({ text }) => text));
    cursor = page.next;
  }
  return found;
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

/** The names of a run's records in a collector's answer, as often as they are there. */
async function namesOf(url: string, run: string): Promise<string[]> {
  return (await recordsOf(url, run)).flatMap((text) => {
    const record = JSON.parse(text) as Record<string, unknown>;
    if ("span_id" in record) return [];
    if (record["t"] === "metric") return [String((record["m"] as { seq: number }).seq)];
    if (record["record_type"] === "ser") return [String((record["identity"] as { node_id: string }).node_id)];
    return "start_ns" in record ? [String(record["id"])] : [];
  });
}

describe.skipIf(natsPath === undefined)("three collectors in trouble", () => {
  test(
    `lose and double nothing over ${rounds} kills, stops and cut-offs`,
    async () => {
      const ledger = new Ledger();
      const name = (kind: string): string => `${kind}${randomInt(3)}`;
      const doomed: { run: string; after: Set<string> }[] = [];
      for (let round = 0; round < rounds; round++) {
        const trouble = disturb();
        const sending: Promise<void>[] = [];
        for (let at = 0; at < recordsPerRound; at++)
          sending.push(ledger.sendSpan(name("c")), ledger.sendPoint(name("x")), ledger.sendLine(name("s")));
        await Promise.all([trouble, ...sending]);
        if (round % 10 !== 5) continue;
        const run = `gone${randomBytes(3).toString("hex")}`;
        for (let at = 0; at < 5; at++) await ledger.sendPoint(run);
        // A collector may have accepted and not yet stored them; only what is known can be named.
        if (!(await removeRun(run))) continue;
        ledger.xtrack.delete(run);
        for (let at = 0; at < 5; at++) await ledger.sendPoint(run);
        doomed.push({ run, after: new Set(ledger.xtrack.get(run)) });
        ledger.xtrack.delete(run);
      }
      for (const { url } of collectors) await untilDrained(url);
      for (const runs of [ledger.cirron, ledger.xtrack, ledger.semantiva])
        for (const [run, records] of runs)
          for (const { url } of collectors) {
            const wanted = [...records].sort();
            let found: string[] = [];
            await eventually(async () => {
              found = (await namesOf(url, run)).sort();
              return found.length === wanted.length;
            }, `${run} at ${url}`).catch(() => undefined);
            expect([run, url, found]).toEqual([run, url, wanted]);
          }
      for (const { run, after } of doomed)
        for (const { url } of collectors) {
          await eventually(async () => after.isSubsetOf(new Set(await namesOf(url, run))), `${run} lost records`);
          const found = await namesOf(url, run);
          expect(new Set(found).size).toBe(found.length);
        }
    },
    rounds * 30_000 + 5 * minuteMs,
  );
});
