// Jobs of all protocols that send each record to any collector that accepts it and one in ten to a second collector too,
// and a ledger of what was accepted.

import { createHash, randomBytes, randomInt } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { someResource, someSpan, tracesOf } from "#wire/otlp/fixture.testing.ts";
import { encodeFrame } from "#wire/xtrack/frames.testing.ts";
import { hex, toBatchText } from "../../support/cirron-batch.ts";

/** One execution of a node, as Semantiva's own driver wrote it. */
const line = readFileSync(join(import.meta.dirname, "../../../examples/data/semantiva/sweep.trace.jsonl"), "utf8")
  .split("\n")
  .filter((text) => text.includes('"record_type": "ser"'))
  .map((text) => JSON.parse(text) as { identity: object })[0] as { identity: object };

interface Sent {
  readonly path: string;
  readonly type: string;
  readonly body: string | Uint8Array;
  /** By which the record is found again. */
  readonly name: string;
}

/** The record with a number, of a run. */
const senders = {
  cirron(run: string, at: number): Sent {
    const id = `${run}${at}`;
    const body = toBatchText(id, [{ id, parent: null, name: "step", at }]);
    return { path: `/v1/runs/${run}/traces`, type: "application/json", body, name: hex(id) };
  },
  xtrack(run: string, at: number): Sent {
    const meta = { seq: at, ts: 1794710321102255 + at, wid: `w${at % 3}` };
    const body = encodeFrame("metric", meta, { run_id: run, key: "loss", value: at, step: at });
    return { path: "/v1/xtrack", type: "application/octet-stream", body, name: String(at) };
  },
  semantiva(run: string, at: number): Sent {
    const name = `node-${at}`;
    const identity = { ...line.identity, run_id: run, node_id: name };
    const body = `${JSON.stringify({ ...line, run_id: run, identity })}\n`;
    return { path: "/v1/trace-stream", type: "application/x-ndjson", body, name };
  },
  otlp(run: string, at: number): Sent {
    const request = tracesOf([someSpan(at)], { ...someResource, "nemo.run.id": run });
    const { spanId } = someSpan(at) as { spanId: string };
    return { path: "/v1/otlp/v1/traces", type: "application/json", body: JSON.stringify(request), name: spanId };
  },
};

export type Protocol = keyof typeof senders;
export const protocols = Object.keys(senders) as Protocol[];

/** The name of a record in the text that a collector gives back; null of what goes with another one. */
export function nameOf(text: string): string | null {
  const record = JSON.parse(text) as Record<string, unknown>;
  if (record["t"] === "metric") return String((record["m"] as { seq: number }).seq);
  if (record["record_type"] === "ser") return String((record["identity"] as { node_id: string }).node_id);
  if ("spanId" in record) return String(record["spanId"]);
  // A mark names its span.
  return "start_ns" in record && !("span_id" in record) ? String(record["id"]) : null;
}

const answerMs = 5000;
const deletionMs = 120_000;

export class Ledger {
  /** What was accepted, by run: the names of its records. */
  readonly runs = new Map<string, Set<string>>();
  /** Files that were accepted, by path: the digests of their bytes. */
  readonly files = new Map<string, string>();
  /** How many records a second collector got too. */
  copies = 0;
  private readonly urls: readonly string[];
  private serial = 0;

  constructor(urls: readonly string[]) {
    this.urls = urls;
  }

  /** Sends until a collector has taken it. */
  async send(protocol: Protocol, run: string): Promise<void> {
    const { path, type, body, name } = senders[protocol](run, ++this.serial);
    const options = { method: "POST", body: body as string, headers: { "content-type": type } };
    await this.deliver(path, options);
    if (randomInt(10) === 0) {
      await this.deliver(path, options);
      this.copies++;
    }
    this.runs.set(run, (this.runs.get(run) ?? new Set()).add(name));
  }

  async sendFile(): Promise<void> {
    const path = `/v1/traces/blobs/snapshots/${randomBytes(16).toString("hex")}/weights.bin`;
    const body = new Uint8Array(randomBytes(1000 + randomInt(100_000)));
    await this.deliver(path, { method: "PUT", body, headers: { "content-type": "application/octet-stream" } });
    this.files.set(path, digest(body));
  }

  /**
   * Deletes at a collector. False when nobody answers: it may be done at any time from then on, so nothing is known of the
   * run any more.
   */
  async remove(run: string): Promise<boolean> {
    for (;;) {
      const answer = await this.ask(`/api/v1/runs/${run}`, { method: "DELETE" }, deletionMs);
      // Only what is stored can be named.
      if (answer === 404 || answer === 503) {
        await sleep(200);
        continue;
      }
      this.runs.delete(run);
      return answer === 200;
    }
  }

  private async deliver(path: string, options: RequestInit): Promise<void> {
    for (;;) {
      const status = await this.ask(path, options);
      if (status !== null && status >= 200 && status < 300) return;
      if (status !== null && status >= 400 && status < 500 && status !== 429 && status !== 408)
        throw new Error(`${path} was answered with ${status}`);
      await sleep(200);
    }
  }

  private async ask(path: string, options: RequestInit, withinMs = answerMs): Promise<number | null> {
    const url = this.urls[randomInt(this.urls.length)] as string;
    const answer = await fetch(url + path, { ...options, signal: AbortSignal.timeout(withinMs) }).catch(() => null);
    await answer?.arrayBuffer().catch(() => undefined);
    return answer?.status ?? null;
  }
}

export function digest(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
