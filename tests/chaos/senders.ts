// Clients of every kind that send until they are told to stop, and send again what was not answered, as real ones do.

import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { DocumentClient, type Envelope } from "../clients/xtrack-document-client.ts";
import type { Ledger } from "./ledger.ts";
import type { Victim } from "./victim.ts";

export interface Field {
  readonly victim: Victim;
  readonly ledger: Ledger;
  readonly stopped: AbortSignal;
}

const answerMs = 30_000;
const hex = (): string => randomBytes(16).toString("hex");

/** Sends until the server has taken it, or for a while after the end: then it counts as never answered. */
async function deliver(
  { victim, stopped }: Field,
  path: string,
  body: Buffer,
  headers: Record<string, string>,
): Promise<boolean> {
  for (let late = 0; late < 200; ) {
    const signal = AbortSignal.timeout(answerMs);
    const answer = await fetch(victim.url + path, {
      method: "POST",
      body: new Uint8Array(body),
      headers,
      signal,
    }).catch(() => null);
    await answer?.arrayBuffer().catch(() => null);
    if (answer?.status === 202) return true;
    if (answer !== null && answer.status < 500 && answer.status !== 429)
      throw new Error(`${path} was answered with ${answer.status}`);
    if (stopped.aborted) late++;
    await sleep(50);
  }
  return false;
}

/** Batches of one process, every fifth of them sent twice. */
export async function sendSpans(field: Field, process: number): Promise<void> {
  const { ledger, stopped } = field;
  const root = hex();
  for (let at = 0; !stopped.aborted; at++) {
    const spans = Array.from({ length: 20 }, (_, n) => ({ id: hex(), index: at * 20 + n }));
    for (const { id, index } of spans) ledger.send("spans", id, index);
    const body = gzipSync(toBatch(hex(), root, process, at, spans));
    const headers = { "content-type": "application/json", "content-encoding": "gzip" };
    for (let copy = at % 5 === 0 ? 2 : 1; copy > 0; copy--)
      if (await deliver(field, "/v1/traces", body, headers))
        ledger.acknowledge(
          "spans",
          spans.map(({ id }) => id),
        );
  }
}

function toBatch(
  id: string,
  root: string,
  pid: number,
  at: number,
  spans: readonly { id: string; index: number }[],
): string {
  const startNs = 1_794_710_396_000_000_000n + BigInt(at) * 1_000_000n;
  const rows = spans.map(
    (span) =>
      `{"id":"${span.id}","name":"step","parent_id":"${root}","index":${span.index},"start_ns":${startNs},"end_ns":${startNs + 10n},` +
      `"thread_id":1,"pid":${pid},"rank":0,"attrs":{},"mark_ids":[]}`,
  );
  return `{"schema_version":1,"sdk_version":"0.3.0","batch_id":"${id}","created_ns":${startNs},"spans":[${rows.join(",")}],"marks":[],"snapshots":[]}`;
}

const node = JSON.parse(
  readFileSync(join(import.meta.dirname, "../fixtures/semantiva/edge_values/trace.ser.jsonl"), "utf8")
    .split("\n")
    .find((line) => line.includes('"ser"')) as string,
) as { identity: Record<string, string>; timing: Record<string, unknown> };

/** Lines of node executions of one pipeline run, ten a request. */
export async function sendNodes(field: Field, name: string): Promise<void> {
  const { ledger, stopped } = field;
  const runId = `run-${name}-${hex()}`;
  for (let at = 0; !stopped.aborted; at++) {
    const ids = Array.from({ length: 10 }, hex);
    const lines = ids.map((id, n) => {
      ledger.send("nodes", `${runId}/${id}`, at * 10 + n);
      const identity = { ...node.identity, run_id: runId, node_id: id };
      return JSON.stringify({ ...node, identity, timing: { ...node.timing, wall_ms: at * 10 + n } });
    });
    const taken = await deliver(field, "/v1/trace-stream", Buffer.from(`${lines.join("\n")}\n`), {
      "content-type": "application/x-ndjson",
    });
    if (taken)
      ledger.acknowledge(
        "nodes",
        ids.map((id) => `${runId}/${id}`),
      );
    await sleep(5);
  }
}

/** One worker that asks for acks, keeps what was not acked and sends it again on its next connection. */
export async function sendPoints(field: Field, runId: string, wid: string): Promise<void> {
  const { victim, ledger, stopped } = field;
  const waiting = new Map<number, Envelope>();
  let nextSeq = 1;
  const note = (client: DocumentClient): void => {
    for (const { t, p } of client.received.splice(0)) {
      if (t !== "ack" || p["status"] === "error" || !waiting.delete(Number(p["seq"]))) continue;
      ledger.acknowledge("points", [`${runId}/${wid}/${p["seq"]}`]);
    }
  };
  const deadline = (): boolean => stopped.aborted && waiting.size === 0;
  for (let tries = 0; !deadline() && tries < 10_000; tries++) {
    const options = { runId, wid, accepts: ["ack"], firstSeq: nextSeq };
    const client = await DocumentClient.connect({ host: "127.0.0.1", port: victim.xtrackPort }, options).catch(
      () => null,
    );
    if (client === null) {
      await sleep(50);
      continue;
    }
    client.runStart();
    for (const event of waiting.values()) client.send(event);
    while (!client.socket.destroyed && !deadline()) {
      for (let n = 0; n < 20 && !stopped.aborted && waiting.size < 2000; n++) {
        const value = client.nextSeq / 2;
        const event = client.metric("loss", value, client.nextSeq);
        waiting.set(event.m.seq, event);
        ledger.send("points", `${runId}/${wid}/${event.m.seq}`, value);
      }
      nextSeq = client.nextSeq;
      await sleep(10);
      note(client);
    }
    note(client);
    client.socket.destroy();
  }
}

/** Files of spans that nobody has heard of yet, each sent until it is taken. */
export async function sendBlobs({ victim, ledger, stopped }: Field): Promise<void> {
  while (!stopped.aborted) {
    const path = `/v1/traces/blobs/snapshots/${hex()}/weights.bin`;
    const body = new Uint8Array(randomBytes(1000 + Math.floor(Math.random() * 100_000)));
    const headers = { "content-type": "application/octet-stream" };
    for (let isTaken = false; !isTaken && !stopped.aborted; ) {
      const call = { method: "PUT", body, headers, signal: AbortSignal.timeout(answerMs) };
      const answer = await fetch(victim.url + path, call).catch(() => null);
      await answer?.arrayBuffer().catch(() => null);
      isTaken = answer?.status === 201;
      if (isTaken) ledger.keepBlob(path, body);
      await sleep(200);
    }
  }
}

/** Runs that are made, acknowledged and deleted; a deletion that was not answered is asked for again. */
export async function sendAndDelete(field: Field): Promise<void> {
  const { victim, ledger, stopped } = field;
  for (let at = 0; !stopped.aborted; at++) {
    const runId = `gone-${at}`;
    const part = new AbortController();
    const working = sendPoints({ victim, ledger, stopped: AbortSignal.any([stopped, part.signal]) }, runId, "w0");
    await sleep(300);
    part.abort();
    await working;
    ledger.forgetRun(runId, await remove(field, runId));
  }
}

async function isAnswered(url: string): Promise<boolean> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(answerMs) }).catch(() => null);
  await answer?.arrayBuffer().catch(() => null);
  return answer?.ok ?? false;
}

async function remove({ victim, stopped }: Field, runId: string): Promise<boolean> {
  // A run is known once its rows are stored: before that there is nothing to delete.
  while (!stopped.aborted && !(await isAnswered(`${victim.url}/readyz?drained=1`))) await sleep(100);
  while (!stopped.aborted) {
    const call = { method: "DELETE", signal: AbortSignal.timeout(answerMs) };
    const answer = await fetch(`${victim.url}/api/v1/runs/${runId}`, call).catch(() => null);
    await answer?.arrayBuffer().catch(() => null);
    if (answer?.ok || answer?.status === 404) return true;
    await sleep(100);
  }
  return false;
}

/** Backups are taken meanwhile; one that is cut off is only tried again. */
export async function takeBackups({ victim, stopped }: Field): Promise<number> {
  let whole = 0;
  while (!stopped.aborted) {
    const answer = await fetch(`${victim.url}/api/v1/backup`, { signal: AbortSignal.timeout(answerMs) }).catch(
      () => null,
    );
    const bytes = answer?.ok ? await answer.arrayBuffer().catch(() => null) : null;
    if (bytes !== null) whole++;
    await sleep(2000);
  }
  return whole;
}
