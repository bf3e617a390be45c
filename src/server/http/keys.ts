// API keys: 256 random bits, shown once, kept only as their SHA-256.

import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { KeyStore, StoredKey } from "./ports.ts";

const prefix = "trib_";

export interface NewKey {
  readonly id: string;
  readonly secret: string;
  readonly sha256: string;
}

export function createKeySecret(): NewKey {
  const secret = prefix + randomBytes(32).toString("base64url");
  return { id: randomBytes(6).toString("hex"), secret, sha256: hashKey(secret) };
}

export function hashKey(secret: string): string {
  return createHash("sha256").update(secret, "utf8").digest("hex");
}

/** Compares with every key, each in constant time, so that time tells nothing about how near a guess was. */
export function findKey(secret: string, keys: readonly StoredKey[]): StoredKey | undefined {
  const given = createHash("sha256").update(secret, "utf8").digest();
  let found: StoredKey | undefined;
  for (const key of keys) {
    const stored = Buffer.from(key.sha256, "hex");
    if (stored.length === given.length && timingSafeEqual(stored, given)) found = key;
  }
  return found;
}

/** Tells the store of a key's use, at most once a minute for each key. */
export function createUseNotes(store: KeyStore): (key: StoredKey, nowMs: number) => void {
  const notedMs = new Map<string, number>();
  return (key, nowMs) => {
    if (nowMs - (notedMs.get(key.id) ?? Number.NEGATIVE_INFINITY) < 60_000) return;
    notedMs.set(key.id, nowMs);
    store.noteUse(key.id, BigInt(nowMs) * 1_000_000n);
  };
}
