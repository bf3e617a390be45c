// Backups that are taken while a server is struck. Most are cut off; the last whole one is brought back in the end, and what
// had been acknowledged when it was asked for must be in it.

import { createWriteStream, rmSync } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { restoreBackup } from "#archive/restore-backup.ts";
import type { Field } from "./deliver.ts";
import type { Ledger, Wrong } from "./ledger.ts";
import { type Program, Victim } from "./victim.ts";

/** A blow that waits for a backup does so for this long; the store may first have to catch up. */
const waitMs = 300_000;
const pauseMs = 2000;

export class Backups {
  /** How many were whole. */
  whole = 0;
  /** How often somebody waited for one in vain. */
  late = 0;
  /** Somebody waits for one: meanwhile nobody deletes runs, which would end it. */
  isAwaited = false;
  private last: { readonly path: string; readonly asOf: number } | null = null;
  private readonly dataDir: string;

  constructor(dataDir: string) {
    this.dataDir = dataDir;
  }

  /** One after the other, until the campaign ends. */
  async take(field: Field): Promise<void> {
    while (!field.stopped.aborted) {
      // Beside the last whole one.
      const path = `${this.dataDir}.backup-${this.whole % 2}`;
      const { moment: asOf } = field.ledger;
      if (await this.takeOne(field, path)) {
        this.whole++;
        this.last = { path, asOf };
      }
      await sleep(this.isAwaited ? 200 : pauseMs, undefined, { signal: field.stopped }).catch(() => undefined);
    }
  }

  /** Until one more is whole, while clients send and nothing strikes. */
  async awaitOne(): Promise<void> {
    const before = this.whole;
    this.isAwaited = true;
    try {
      const until = performance.now() + waitMs;
      while (this.whole === before && performance.now() < until) await sleep(100);
      if (this.whole === before) this.late++;
    } finally {
      this.isAwaited = false;
    }
  }

  /** Adds what the last whole one lacks, or has and should not, to the verdict. */
  async judge(ledger: Ledger, verdict: Wrong, program: Program): Promise<void> {
    if (this.last === null) return;
    const folder = `${this.dataDir}.restored`;
    const restored = await Victim.create(folder, program);
    try {
      await restoreBackup(this.last.path, folder);
      await restored.start();
      const found = await ledger.judge(restored.url, this.last.asOf);
      for (const kind of ["lost", "doubled", "invented", "altered"] as const)
        verdict[kind].push(...found[kind].map((what) => `in the backup: ${what}`));
    } finally {
      await restored.end("SIGKILL");
      restored.forget();
      rmSync(folder, { recursive: true, force: true });
    }
  }

  forget(): void {
    for (const at of [0, 1]) rmSync(`${this.dataDir}.backup-${at}`, { force: true });
  }

  /** False when it was cut off, or put off to later. */
  private async takeOne({ victim, stopped }: Field, path: string): Promise<boolean> {
    const response = await fetch(`${victim.url}/api/v1/backup`, { signal: stopped }).catch(() => null);
    if (response === null) return false;
    if (response.status === 200) return this.write(response, path);
    const text = await response.text().catch(() => "");
    // A disk that is full or fails, a store that is away, a deletion meanwhile.
    if (![409, 429, 503].includes(response.status))
      throw new Error(`a backup was answered with ${response.status}: ${text.slice(0, 500)}`);
    return false;
  }

  private async write({ body }: Response, path: string): Promise<boolean> {
    if (body === null) return false;
    try {
      await pipeline(Readable.fromWeb(body as never), createWriteStream(path));
      return true;
    } catch {
      return false;
    }
  }
}
