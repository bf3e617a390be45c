// The keys as last known, in the data folder, for a start while the store is away or takes nothing. They are digests, as in the
// store.

import { join } from "node:path";
import { readDurableText, writeDurableText } from "#base/durable-file.ts";
import type { StateRow } from "#model/state-tables.ts";

type KeyRow = StateRow<"keys">;

export class KeyCopy {
  private readonly path: string;
  private readonly rows = new Map<string, KeyRow>();
  private last = "";
  private writing: Promise<void> = Promise.resolve();

  constructor(dataDir: string) {
    this.path = join(dataDir, "keys");
  }

  take(row: KeyRow): void {
    this.rows.set(row.key_id, row);
  }

  async read(): Promise<KeyRow[]> {
    this.last = (await readDurableText(this.path)) ?? "";
    const rows = JSON.parse(this.last || "[]") as Record<keyof KeyRow, string>[];
    return rows.map(
      (row) => ({ ...row, created_ns: BigInt(row.created_ns), version: BigInt(row.version) }) as unknown as KeyRow,
    );
  }

  /** If the copy cannot be written, the old one stays. */
  write(): Promise<void> {
    this.writing = this.writing.then(() => this.writeNow()).catch(() => undefined);
    return this.writing;
  }

  private async writeNow(): Promise<void> {
    const rows = [...this.rows.values()].sort((a, b) => (a.key_id < b.key_id ? -1 : 1));
    const text = JSON.stringify(rows, (_name, value: unknown) => (typeof value === "bigint" ? String(value) : value));
    if (text === this.last) return;
    await writeDurableText(this.path, text);
    this.last = text;
  }
}
