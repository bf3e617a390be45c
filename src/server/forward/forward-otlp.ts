// Forwards what was stored, as OTLP, to another receiver such as a team's Grafana, Jaeger or SigNoz.
//
// It follows the positions of the journal through the store: a small file holds its position, and what came after that
// is read back from the rows of the groups that were written to. So it never holds up intake, keeps no copy of its own,
// and resumes after a restart or an outage of the receiver. A request that a crash interrupts is sent again.

import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createBuilders, finish, type OtlpRequest, toRequests } from "#archive/otlp/export-requests.ts";
import { postRequest, type Receiver, RequestRefused, sayPartial } from "#archive/otlp/post-request.ts";
import { OtlpConverter } from "#archive/otlp/to-otlp.ts";
import { readDurableText, writeDurableText } from "#base/durable-file.ts";
import type { Collector } from "#server/collector/collector.ts";
import type { Log } from "#server/log.ts";
import { readGroupsBetween, streamJournal } from "#store/reader/record-rows.ts";
import { readGroupRows } from "#store/reader/state-rows.ts";
import { withOptions } from "#store/store.ts";

export interface ForwardOptions {
  readonly collector: Pick<Collector, "id" | "store" | "writer" | "onStored">;
  readonly dataDir: string;
  readonly receiver: Receiver;
  readonly log: Log;
}

/** How many journal records are read and sent before the position is saved. */
const recordsAtOnce = 200;
/** More groups than this are not remembered, but looked up. */
const groupsMax = 50_000;
const troubleWaitMs = 5000;

export async function openForwarder(options: ForwardOptions): Promise<Forwarder> {
  const { collector, dataDir, receiver } = options;
  const path = join(dataDir, "forward-otlp");
  const kept = parseKept(await readDurableText(path));
  // A different receiver gets only what arrives from now on.
  const isSame = kept !== null && kept.url === receiver.url;
  const start = isSame ? Math.min(kept.position, collector.writer.stored) : collector.writer.stored;
  const work = new Forwarder(options, path, start);
  collector.onStored((to, batches) => {
    for (const { parts } of batches) for (const { rows } of parts) work.note(rows.group_key.keys);
    work.reach(to);
  });
  work.reach(collector.writer.stored);
  return work;
}

export class Forwarder {
  position: number;
  private readonly options: ForwardOptions;
  private readonly path: string;
  private readonly stop = new AbortController();
  /** The groups with rows after `position`; null if there may be others. */
  private groups: Set<string> | null = null;
  private to: number;
  private trouble = "";
  private refused = 0;
  /** Rejected records of requests that were otherwise accepted. */
  private rejected = 0;
  private running: Promise<void> | null = null;

  constructor(options: ForwardOptions, path: string, position: number) {
    this.options = options;
    this.path = path;
    this.position = position;
    this.to = position;
  }

  note(groupKeys: readonly string[]): void {
    for (const key of groupKeys) this.groups?.add(key);
    if ((this.groups?.size ?? 0) > groupsMax) this.groups = null;
  }

  reach(to: number): void {
    this.to = to;
    if (this.running !== null || this.stop.signal.aborted || to <= this.position) return;
    this.running = this.run().finally(() => {
      this.running = null;
      if (this.to > this.position) this.reach(this.to);
    });
  }

  /** The problem, for people; empty if all is well. */
  sentences(): readonly string[] {
    const waiting = this.to - this.position;
    return [
      ...(this.trouble === "" ? [] : [`${waiting} records wait to be forwarded: ${this.trouble}.`]),
      ...(this.refused === 0 ? [] : [`${this.refused} requests were refused where they were forwarded to.`]),
      ...(this.rejected === 0 ? [] : [`${this.rejected} records were rejected where they were forwarded to.`]),
    ];
  }

  async close(): Promise<void> {
    this.stop.abort();
    await this.running;
  }

  private async run(): Promise<void> {
    try {
      while (this.position < this.to && !this.stop.signal.aborted) await this.forward();
    } catch (error) {
      if (this.stop.signal.aborted) return;
      this.say((error as Error).message);
      // The groups to read are no longer known.
      this.groups = null;
      await sleep(troubleWaitMs, undefined, { ref: false, signal: this.stop.signal }).catch(() => undefined);
    }
  }

  /** Sends the rows of the next journal records, then saves the position. */
  private async forward(): Promise<void> {
    const { store, id } = this.options.collector;
    const { signal } = this.stop;
    const from = this.position + 1;
    const to = Math.min(this.to, this.position + recordsAtOnce);
    const isLast = to === this.to;
    const known = this.groups;
    // Rows written from here on are after `to`.
    if (isLast) this.groups = new Set();
    const range = { from: String(from), to: String(to) };
    const groups = known === null ? await readGroupsBetween(store, range) : [...known];
    if (groups.length > 0) {
      const converterOf = await this.readRuns(groups);
      const builders = createBuilders();
      const rows = streamJournal(withOptions(store, { signal }), groups, { collector: id, ...range });
      for await (const request of toRequests(converterOf, rows, builders)) await this.post(request);
      for (const request of finish(builders)) await this.post(request);
    }
    const kept = JSON.stringify({ url: this.options.receiver.url, position: to });
    await writeDurableText(this.path, kept);
    this.position = to;
  }

  private async readRuns(groups: readonly string[]): Promise<(groupKey: string) => OtlpConverter> {
    const rows = await readGroupRows(this.options.collector.store, "groups", groups);
    const runs = new Map(rows.map(({ group_key, run_id }) => [group_key, run_id]));
    const converters = new Map<string, OtlpConverter>();
    return (groupKey) => {
      const run = runs.get(groupKey) ?? groupKey;
      let converter = converters.get(run);
      if (converter === undefined) {
        converter = new OtlpConverter(run);
        converters.set(run, converter);
      }
      return converter;
    };
  }

  private async post(request: OtlpRequest): Promise<void> {
    const { receiver, log } = this.options;
    try {
      const ask = { signal: this.stop.signal, onRetry: (reason: string) => this.say(reason) };
      const partial = await postRequest(receiver, request, ask);
      if (this.trouble !== "") log.info({ url: receiver.url }, "forwarding goes on");
      this.trouble = "";
      if (partial === null) return;
      this.rejected += partial.rejected;
      log.warn({ rejected: partial.rejected }, sayPartial(receiver, request.signal, partial));
    } catch (error) {
      if (!(error instanceof RequestRefused)) throw error;
      // It would be refused again; what it holds is stored here all the same.
      this.refused++;
      log.warn({ status: error.status }, `A request was not forwarded: ${error.message}`);
    }
  }

  private say(reason: string): void {
    if (this.trouble === "")
      this.options.log.warn({ reason }, "What is stored cannot be forwarded now; it is tried again.");
    this.trouble = reason;
  }
}

function parseKept(text: string | undefined): { readonly url: string; readonly position: number } | null {
  const { url, position } = JSON.parse(text ?? "{}") as { url?: unknown; position?: unknown };
  return typeof url === "string" && typeof position === "number" ? { url, position } : null;
}
