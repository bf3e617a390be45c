// tributary adopt: stores what a dead collector had accepted and not stored.

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import type { Context } from "#cli/context.ts";
import { Exit, exitCodes } from "#cli/exit.ts";
import { formatCount } from "#cli/format.ts";
import { type SharedOptions, toConfig } from "#cli/options.ts";
import { printLine } from "#cli/print.ts";
import { hasOwnStore, requireDataFolder, withCollector } from "#cli/with-collector.ts";
import type { Config } from "#config/settings.ts";
import { toStoreAddress } from "#server/app/backends.ts";
import { SharedDeletions } from "#server/peers/deletions.ts";
import { createStore } from "#store/client.ts";

export function addAdopt(program: Command, context: Context): void {
  program
    .command("adopt")
    .summary("store what a lost collector had accepted")
    .description(
      "Stores what the journal of a dead collector holds, on the ClickHouse server of the settings. Says whether its folder may be removed.",
    )
    .argument("<folder>", "the data folder of that collector")
    .option("--config <file>", "the settings file instead of tributary.toml")
    .addHelpText("after", "\nExample:\n  tributary adopt /mnt/collector-3\n")
    .action(async (folder: string, options: SharedOptions) => {
      const config = toConfig(context, { ...options, data: folder }, { busUrl: "" });
      checkFolder(config);
      await checkStore(config);
      await withCollector(config, async (collector) => {
        const tell = (message: string): void => printLine(context, message);
        const deletions = new SharedDeletions({ ...collector, tell }, null);
        await deletions.settle();
        await deletions.close();
        const { applied } = collector.sequencer.position;
        const what =
          applied === 0 ? "had accepted nothing" : `had accepted ${formatCount(applied, "record")}, all stored now`;
        printLine(context, `Collector ${collector.id} ${what}.`);
        const left = [...collector.damage.sentences(), ...collector.setAside.sentences(), ...blobsLeft(config)];
        if (left.length > 0) throw new Exit(exitCodes.negative, left.join("\n"), `Keep ${folder} until then.`);
        printLine(context, "Its folder may be removed.");
      });
    });
}

function checkFolder({ storeUrl, dataDir }: Config): void {
  if (storeUrl === "")
    throw new Exit(
      exitCodes.usage,
      "No shared store is configured.",
      "Name it with store.url, in tributary.toml or as TRIBUTARY_STORE_URL.",
    );
  requireDataFolder(dataDir);
  // A folder that joined a shared store later was migrated then.
  if (hasOwnStore(dataDir) && !existsSync(join(dataDir, "membership")))
    throw new Exit(
      exitCodes.usage,
      `${dataDir} has a store of its own, which adopt would leave behind.`,
      `Move all of it with: tributary migrate --from ${dataDir} --to ${storeUrl}`,
    );
}

/** A collector waits for a store that is away; a person wants to know at once. */
async function checkStore(config: Config): Promise<void> {
  const store = await createStore(toStoreAddress(config, () => undefined));
  try {
    if (await store.ping()) return;
    throw new Exit(exitCodes.outage, `The store at ${config.storeUrl} does not answer.`, "tributary doctor says why.");
  } finally {
    await store.close();
  }
}

/** Files that only this folder has. */
function blobsLeft({ blobsKind, dataDir }: Config): string[] {
  const folder = join(dataDir, "blobs");
  if (blobsKind !== "fs" || !existsSync(folder)) return [];
  const isEmpty = !readdirSync(folder, { recursive: true, withFileTypes: true }).some((entry) => entry.isFile());
  return isEmpty
    ? []
    : [`Some files of runs are only in ${folder}; copy them to where the other collectors keep theirs.`];
}
