// API keys: 256 random bits, shown once, kept only as their SHA-256.

import { hash, randomBytes, timingSafeEqual } from "node:crypto";
import type { KeyStore, StoredKey } from "./ports.ts";

const prefix = "trib_";

export function createKeySecret() {
  const secret = prefix + randomBytes(32).toString("base64url");
  return { id: randomBytes(6).toString("hex"), secret, sha256: hashKey(secret) };
}

export function hashKey(secret: string): string {
  return hash("sha256", secret, "hex");
}

/** Compares a hash with that of every key in constant time, so that the time tells nothing about a guess. */
export function findKey(sha256: string, keys: readonly StoredKey[]): StoredKey | undefined {
  let found: StoredKey | undefined;
  for (const key of keys) if (isSameHash(key.sha256, sha256)) found = key;
  return found;
}

const hashChars = 64;
// Reused, because every request compares with every key.
const left = Buffer.alloc(hashChars);
const right = Buffer.alloc(hashChars);

/** In constant time. */
export function isSameHash(one: string, other: string): boolean {
  if (one.length !== hashChars || other.length !== hashChars) return false;
  left.write(one, "latin1");
  right.write(other, "latin1");
  return timingSafeEqual(left, right);
}

/** Reports the use of a key to the store, at most once a minute. */
export function createUseNotes(store: KeyStore): (key: StoredKey, nowMs: number) => void {
  const notedMs = new Map<string, number>();
  return (key, nowMs) => {
    if (nowMs - (notedMs.get(key.id) ?? Number.NEGATIVE_INFINITY) < 60_000) return;
    notedMs.set(key.id, nowMs);
    store.noteUse(key.id, BigInt(nowMs) * 1_000_000n);
  };
}
