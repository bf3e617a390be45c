// Secrets of a data folder: made at the first start and readable by its owner alone. Whoever can read one could read
// the data as well, so `owner-secret` is a key for everything, as long as it comes from this machine.

import { createHash, randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { writeSyncedNow } from "#base/durable-file.ts";

export const ownerSecretFile = "owner-secret";

/** What `tributary` on this machine sends as its bearer. */
export function readOwnerSecret(dataDir: string): string {
  const make = () => Buffer.from(`trib_owner_${randomBytes(32).toString("base64url")}\n`);
  return readSecretFile(dataDir, ownerSecretFile, make).toString("utf8").trim();
}

/**
 * What seals logins or signs webhooks: from the setting, which several servers may share, or specific to this folder.
 */
export function readSealSecret(dataDir: string, use: "login" | "watch", shared = ""): Buffer {
  if (shared !== "") return createHash("sha256").update(`${use}\0${shared}`).digest();
  return readSecretFile(dataDir, `${use}-secret`, () => randomBytes(32));
}

/**
 * A file that is too short to be a secret was cut off while it was written, and is replaced. A new one is on the disk before
 * anybody hears of it: after a loss of power, what others were told would not count any more.
 */
function readSecretFile(dataDir: string, name: string, make: () => Uint8Array): Buffer {
  const path = join(dataDir, name);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  try {
    writeSyncedNow(path, make(), "wx");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  const found = readFileSync(path);
  chmodSync(path, 0o600);
  if (found.length >= secretBytesMin) return found;
  writeSyncedNow(path, make(), "w");
  return readFileSync(path);
}

const secretBytesMin = 32;
