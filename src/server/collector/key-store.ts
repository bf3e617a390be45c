// API keys: in memory for every request, durable in the journal and the `keys` table.

import { join } from "node:path";
import { Scope } from "#api/contract/admin.ts";
import { wordsOf } from "#api/contract/scalar.ts";
import { nowNs } from "#base/clock.ts";
import { readDurableText, writeDurableText } from "#base/durable-file.ts";
import type { Config } from "#config/settings.ts";
import { toAudit } from "#model/audit.ts";
import type { StateChange, StateRow } from "#model/state-tables.ts";
import { hashKey } from "#server/http/keys.ts";
import type { KeyStore, StoredKey } from "#server/http/ports.ts";
import { readStateRows } from "#store/reader/state-rows.ts";
import type { Collector } from "./collector.ts";

export interface DurableKeys extends KeyStore {
  /** Takes over what another collector has stored. */
  reload(): Promise<void>;
}

/** The key from the settings, which is in no table and cannot be revoked. */
function toFixedKey(secret: string, workspace: string): StoredKey[] {
  if (secret === "") return [];
  const names = { id: "settings", name: "auth.admin_key", workspace };
  return [{ ...names, scopes: wordsOf(Scope), createdNs: 0n, lastUsedNs: null, sha256: hashKey(secret) }];
}

export async function createKeyStore(
  collector: Collector,
  { adminKey, workspace, dataDir }: Pick<Config, "adminKey" | "workspace" | "dataDir">,
): Promise<DurableKeys> {
  const fixed = toFixedKey(adminKey, workspace);
  const keys = new Map<string, StoredKey>();
  const copy = new KeyCopy(dataDir);
  const versions = new Map<string, bigint>();
  const fold = (row: StateRow<"keys">): void => {
    // The store may lag behind what was applied here, or be ahead because another collector changed it.
    if (row.version < (versions.get(row.key_id) ?? 0n)) return;
    versions.set(row.key_id, row.version);
    copy.take(row);
    if (row.revoked === 1) keys.delete(row.key_id);
    else keys.set(row.key_id, { ...fromRow(row), lastUsedNs: keys.get(row.key_id)?.lastUsedNs ?? null });
  };
  collector.onApplied(({ applied }) => {
    const changed = applied.state.filter((change) => change.table === "keys");
    for (const { row } of changed) fold(row);
    if (changed.length > 0) void copy.write();
  });
  const copied = await copy.read();
  let isRead = false;
  const reload = async (): Promise<void> => {
    const unstored = collector.unstored.of("keys");
    for (const row of await readStateRows(collector.store, "keys")) fold(row);
    for (const { row } of unstored) fold(row);
    isRead = true;
    await copy.write();
  };
  await collector.onceJoined(async () => {
    await collector.sequencer.drained();
    await reload();
  });
  if (!isRead) for (const row of copied) fold(row);
  const write = async (key: StoredKey, revoked: 0 | 1, author: string): Promise<void> => {
    const { id, name, scopes, workspace } = key;
    const action = revoked === 1 ? "key_revoked" : "key_created";
    const audit = toAudit(workspace, author, action, id, { name, scopes }, nowNs());
    await collector.change([toChange(key, revoked), audit], workspace, author);
    await copy.write();
  };
  return {
    reload,
    list: () => [...fixed, ...keys.values()],
    add: (key, author) => write(key, 0, author),
    async revoke(id, author) {
      const key = keys.get(id);
      if (key === undefined) return false;
      await write(key, 1, author);
      return true;
    },
    noteUse(id, atNs) {
      const key = keys.get(id);
      if (key !== undefined) keys.set(id, { ...key, lastUsedNs: atNs });
    },
  };
}

function fromRow(row: StateRow<"keys">): StoredKey {
  return {
    id: row.key_id,
    name: row.name,
    workspace: row.workspace,
    scopes: row.scopes.split(",") as Scope[],
    createdNs: row.created_ns,
    lastUsedNs: null,
    sha256: row.sha256,
  };
}

function toChange(key: StoredKey, revoked: 0 | 1): StateChange {
  return {
    table: "keys",
    row: {
      key_id: key.id,
      workspace: key.workspace,
      name: key.name,
      sha256: key.sha256,
      scopes: key.scopes.join(","),
      created_ns: key.createdNs,
      revoked,
      version: nowNs(),
    },
  };
}

// The keys as last known, in a file of the data folder, for a start while the store is away or refuses. Like the store,
// the file has only digests.

type KeyRow = StateRow<"keys">;

class KeyCopy {
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

  /** If the copy cannot be written, the old one is kept. */
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
