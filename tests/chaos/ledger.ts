// What was sent and what was acknowledged, kept outside of the server, and what the server has of it in the end.

import { createHash } from "node:crypto";
import { ask } from "./ask.ts";

export interface Verdict {
  readonly acknowledged: number;
  /** Files that were acknowledged. */
  readonly blobs: number;
  readonly stored: number;
  /** Acknowledged, and not there. */
  readonly lost: string[];
  /** There more than once. */
  readonly doubled: string[];
  /** There, and never sent. */
  readonly invented: string[];
  /** There with another content than was sent. */
  readonly altered: string[];
}

/** Where a kind of record is found again: an id and its content, in pages that no answer's limit cuts. */
export const recordKinds = {
  spans: { table: "TraceSpan", id: "id", content: "toString(index)" },
  points: { table: "metrics", id: "concat(run_id, '/', worker, '/', toString(seq))", content: "toString(value)" },
  nodes: { table: "nodes", id: "concat(run_id, '/', node_id)", content: "toString(wall_ms)" },
} as const;

export type RecordKind = keyof typeof recordKinds;
const pages = 16;

export class Ledger {
  private readonly sent: Record<RecordKind, Map<string, string>> = {
    spans: new Map(),
    points: new Map(),
    nodes: new Map(),
  };
  private readonly taken: Record<RecordKind, Set<string>> = { spans: new Set(), points: new Set(), nodes: new Set() };

  private readonly blobs = new Map<string, string>();
  /** Of records that were damaged. */
  private readonly forgiven = new Set<string>();

  get acknowledged(): number {
    return Object.values(this.taken).reduce((sum, ids) => sum + ids.size, 0);
  }

  send(kind: RecordKind, id: string, content: number): void {
    this.sent[kind].set(id, String(content));
  }

  acknowledge(kind: RecordKind, ids: Iterable<string>): void {
    for (const id of ids) if (!this.forgiven.has(`${kind} ${id}`)) this.taken[kind].add(id);
  }

  /** What held these was damaged: they may be there or not. */
  mayLose(kind: RecordKind, ids: Iterable<string>): void {
    for (const id of ids) {
      this.forgiven.add(`${kind} ${id}`);
      this.taken[kind].delete(id);
    }
  }

  /** After a deletion that was answered, no point of the run may be there; after one that was not, any may be. */
  forgetRun(runId: string, isSure: boolean): void {
    for (const id of this.sent.points.keys()) {
      if (!id.startsWith(`${runId}/`)) continue;
      this.taken.points.delete(id);
      if (isSure) this.sent.points.delete(id);
    }
  }

  keepBlob(path: string, bytes: Uint8Array): void {
    this.blobs.set(path, sha256Of(bytes));
  }

  async judge(url: string): Promise<Verdict> {
    const verdict = { acknowledged: this.acknowledged, stored: 0, lost: [], doubled: [], invented: [], altered: [] };
    for (const kind of Object.keys(recordKinds) as RecordKind[]) await this.judgeKind(url, kind, verdict);
    await this.judgeBlobs(url, verdict);
    return { ...verdict, blobs: this.blobs.size };
  }

  private async judgeBlobs(url: string, verdict: { lost: string[]; altered: string[] }): Promise<void> {
    for (const [path, sha256] of this.blobs) {
      const answer = await fetch(url + path);
      const bytes = new Uint8Array(await answer.arrayBuffer());
      if (!answer.ok) verdict.lost.push(`${path}: ${answer.status}`);
      else if (sha256Of(bytes) !== sha256) verdict.altered.push(path);
    }
  }

  private async judgeKind(
    url: string,
    kind: RecordKind,
    verdict: { stored: number; lost: string[]; doubled: string[]; invented: string[]; altered: string[] },
  ): Promise<void> {
    const { table, id, content } = recordKinds[kind];
    const [sent, missing, seen] = [this.sent[kind], new Set(this.taken[kind]), new Set<string>()];
    for (let page = 0; page < pages; page++) {
      const rows = await ask(
        url,
        `SELECT ${id} AS i, ${content} FROM ${table} WHERE cityHash64(i) % ${pages} = ${page}`,
      );
      verdict.stored += rows.length;
      for (const [stored, value] of rows as [string, string][]) {
        const expected = sent.get(stored);
        if (seen.has(stored)) verdict.doubled.push(`${kind} ${stored}`);
        else if (expected === undefined) verdict.invented.push(`${kind} ${stored}`);
        else if (expected !== value) verdict.altered.push(`${kind} ${stored}: ${value} instead of ${expected}`);
        seen.add(stored);
        missing.delete(stored);
      }
    }
    for (const stored of missing) verdict.lost.push(`${kind} ${stored}`);
  }
}

function sha256Of(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
