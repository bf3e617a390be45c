// For commands that open a data folder themselves, without a server around it.

import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "#config/settings.ts";
import { startStore } from "#server/app/backends.ts";
import { hooksOf } from "#server/app/collector-hooks.ts";
import { type Collector, openCollector } from "#server/collector/collector.ts";
import { createLog } from "#server/log.ts";
import { Exit, exitCodes } from "./exit.ts";

const drainMs = 8000;

/** Calls `use` once everything in the journal is stored. */
export async function withCollector(config: Config, use: (collector: Collector) => Promise<void>): Promise<void> {
  const log = createLog({ level: "error", format: "text" });
  const store = startStore(config, log, true);
  const collector = await openCollector({ config, store, ...hooksOf(log) }).catch(
    (error: { readonly kind?: string; readonly message: string }) => {
      if (error.kind !== "folder_taken") throw error;
      throw new Exit(exitCodes.outage, error.message, "Stop that server first.");
    },
  );
  try {
    await collector.drained();
    await use(collector);
  } finally {
    await collector.close(drainMs);
  }
}

/** A mistyped path would otherwise be created, and found empty. */
export function requireDataFolder(path: string): void {
  if (!existsSync(join(path, "collector")) && !existsSync(join(path, "journal")))
    throw new Exit(
      exitCodes.usage,
      `${path} is not a data folder of Tributary.`,
      "Name the folder that a server uses.",
    );
}

/** Whether a server has kept its rows in the folder itself. */
export function hasOwnStore(path: string): boolean {
  return existsSync(join(path, "store"));
}
