// The key that a command sends. Who may read the data folder owns the server, and shows that with the folder's secret when
// no key is set; it is sent to this machine alone.

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
