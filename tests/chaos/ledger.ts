// What was sent and what was acknowledged, kept outside of the server, and what the server has of it in the end.

import { createHash } from "node:crypto";
import { ask } from "./ask.ts";

export interface Wrong {
  /** Acknowledged, and not there. */
  readonly lost: string[];
  /** There more than once. */
  readonly doubled: string[];
  /** There, and never sent. */
  readonly invented: string[];
  /** There with another content than was sent. */
  readonly altered: string[];
}

export interface Verdict extends Wrong {
  readonly acknowledged: number;
  readonly byKind: Readonly<Record<RecordKind, number>>;
  /** Files that were acknowledged. */
  readonly blobs: number;
  readonly stored: number;
}

/** How the ids of runs that exporters of OpenTelemetry name begin. */
export const otlpRun = "otlp-";

/** How the ids of runs begin that are deleted. */
export const deletedRun = "gone-";

/** Where a kind of record is found again: an id and its content, in pages that no answer's limit cuts. */
const recordKinds = {
  // What exporters send stands in these tables too, and is judged by itself below.
  spans: {
    table: `(SELECT * FROM TraceSpan WHERE NOT startsWith(runId, '${otlpRun}'))`,
    id: "id",
    content: "toString(index)",
  },
  points: {
    table: `(SELECT * FROM metrics WHERE NOT startsWith(run_id, '${otlpRun}'))`,
    id: "concat(run_id, '/', worker, '/', toString(seq))",
    content: "toString(value)",
  },
  nodes: { table: "nodes", id: "concat(run_id, '/', node_id)", content: "toString(wall_ms)" },
  otlpSpans: { table: "otel_spans", id: "name", content: "toString(step)" },
  otlpPoints: {
    table: "otel_points",
    id: "description",
    content: "toString(JSONExtractFloat(point, 'asDouble'))",
  },
  otlpLogs: { table: "otel_logs", id: "body", content: "toString(step)" },
} as const;

export type RecordKind = keyof typeof recordKinds;
const kinds = Object.keys(recordKinds) as RecordKind[];
const pagesMax = 16;
const pageRecords = 5000;

function ofEachKind<T>(create: () => T): Record<RecordKind, T> {
  return Object.fromEntries(kinds.map((kind) => [kind, create()])) as Record<RecordKind, T>;
}

export class Ledger {
  private readonly sent = ofEachKind(() => new Map<string, string>());
  /** When each was acknowledged, see `moment`. */
  private readonly taken = ofEachKind(() => new Map<string, number>());
  private readonly blobs = new Map<string, { readonly sha256: string; readonly moment: number }>();
  /** Of records that were damaged. */
  private readonly forgiven = new Set<string>();
  private readonly copies = new Set<string>();
  /** Counts what was acknowledged: a copy of the store that is begun now must hold all of it. */
  moment = 0;

  get acknowledged(): number {
    return kinds.reduce((sum, kind) => sum + this.taken[kind].size, 0);
  }

  send(kind: RecordKind, id: string, content: number): void {
    this.sent[kind].set(id, String(content));
  }

  acknowledge(kind: RecordKind, ids: Iterable<string>): void {
    this.moment++;
    const taken = this.taken[kind];
    for (const id of ids) if (!taken.has(id) && !this.forgiven.has(`${kind} ${id}`)) taken.set(id, this.moment);
  }

  /** What held it was damaged: it may be there or not. */
  mayLose(kind: RecordKind, id: string): void {
    this.forgiven.add(`${kind} ${id}`);
    this.taken[kind].delete(id);
  }

  /** After a deletion that was answered, none of these points may be there; after one that was not, any may be. */
  forgetPoints(ids: Iterable<string>, isSure: boolean): void {
    for (const id of ids) {
      this.taken.points.delete(id);
      if (isSure) this.sent.points.delete(id);
    }
  }

  keepBlob(path: string, bytes: Uint8Array): void {
    this.blobs.set(path, { sha256: sha256Of(bytes), moment: ++this.moment });
  }

  /** What the store shows twice now; merges may hide it from whoever looks later. */
  async lookForCopies(url: string): Promise<void> {
    for (const kind of kinds) {
      const { table, id } = recordKinds[kind];
      const copies = await ask(url, `SELECT ${id} AS i FROM ${table} GROUP BY i HAVING count() > 1 LIMIT 1000`);
      for (const [stored] of copies) this.copies.add(`${kind} ${stored} for a while`);
    }
  }

  /** `asOf`: of a copy that was begun at that moment. It is not asked which runs had been deleted by then. */
  async judge(url: string, asOf = Number.POSITIVE_INFINITY): Promise<Verdict> {
    const verdict = {
      acknowledged: this.acknowledged,
      stored: 0,
      ...{ lost: [], doubled: [] as string[], invented: [], altered: [] },
    };
    for (const kind of kinds) await this.judgeKind(url, kind, verdict, asOf);
    await this.judgeBlobs(url, verdict, asOf);
    verdict.doubled.push(...this.copies);
    const counts = kinds.map((kind) => [kind, this.taken[kind].size]);
    return { ...verdict, byKind: Object.fromEntries(counts), blobs: this.blobs.size };
  }

  private async judgeBlobs(url: string, verdict: Wrong, asOf: number): Promise<void> {
    for (const [path, { sha256, moment }] of this.blobs) {
      if (moment > asOf) continue;
      const answer = await fetch(url + path);
      const bytes = new Uint8Array(await answer.arrayBuffer());
      if (!answer.ok) verdict.lost.push(`${path}: ${answer.status}`);
      else if (sha256Of(bytes) !== sha256) verdict.altered.push(path);
    }
  }

  private async judgeKind(
    url: string,
    kind: RecordKind,
    verdict: Wrong & { stored: number },
    asOf: number,
  ): Promise<void> {
    const { table, id, content } = recordKinds[kind];
    const [sent, taken, seen] = [this.sent[kind], this.taken[kind], new Set<string>()];
    const isOpen = (stored: string): boolean => Number.isFinite(asOf) && stored.startsWith(deletedRun);
    const pages = Math.min(pagesMax, Math.ceil(sent.size / pageRecords) || 1);
    for (let page = 0; page < pages; page++) {
      const rows = await ask(
        url,
        `SELECT ${id} AS i, ${content} FROM ${table} WHERE cityHash64(i) % ${pages} = ${page}`,
      );
      verdict.stored += rows.length;
      for (const [stored, value] of rows as [string, string][]) {
        if (isOpen(stored)) continue;
        const expected = sent.get(stored);
        if (seen.has(stored)) verdict.doubled.push(`${kind} ${stored}`);
        else if (expected === undefined) verdict.invented.push(`${kind} ${stored}`);
        else if (expected !== value) verdict.altered.push(`${kind} ${stored}: ${value} instead of ${expected}`);
        seen.add(stored);
      }
    }
    for (const [stored, moment] of taken)
      if (moment <= asOf && !seen.has(stored) && !isOpen(stored)) verdict.lost.push(`${kind} ${stored}`);
  }
}

function sha256Of(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
