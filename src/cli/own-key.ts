// The key that a command sends. Whoever can read the data folder owns the server and proves it with the folder's secret if
// no key is set; the secret is sent to this machine only.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "#config/settings.ts";
import { isLoopback } from "#server/http/addresses.ts";
import { ownerSecretFile } from "#server/http/owner-secret.ts";

export function keyFor({ key, dataDir }: Pick<Config, "key" | "dataDir">, url: string): string {
  if (key !== "" || !isLoopback(new URL(url).hostname.replace(/^\[(.*)\]$/, "$1"))) return key;
  try {
    return readFileSync(join(dataDir, ownerSecretFile), "utf8").trim();
  } catch {
    return "";
  }
}
