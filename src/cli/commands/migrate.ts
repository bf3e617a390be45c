// tributary migrate: a data folder's own store into a ClickHouse server.

import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Command } from "commander";
import { readDurableText, writeDurableText } from "#base/durable-file.ts";
import type { Context } from "#cli/context.ts";
import { Exit, exitCodes } from "#cli/exit.ts";
import { formatCount } from "#cli/format.ts";
import { type SharedOptions, toConfig } from "#cli/options.ts";
import { printLine } from "#cli/print.ts";
import { hasOwnStore, requireDataFolder, withCollector } from "#cli/with-collector.ts";
import type { Config } from "#config/settings.ts";
import { openBlobs, toStoreAddress } from "#server/app/backends.ts";
import type { Collector } from "#server/collector/collector.ts";
import { createStore } from "#store/client.ts";
import { copyStore } from "#store/copy-store.ts";
import { readBlobKeys } from "#store/reader/whole-tables.ts";
import { migrate } from "#store/schema/migrate.ts";
import type { Store } from "#store/store.ts";

interface MigrateOptions extends SharedOptions {
  readonly from: string;
  readonly to: string;
}

export function addMigrate(program: Command, context: Context): void {
  program
    .command("migrate")
    .summary("move a data folder to a ClickHouse server")
    .description(
      "Copies every row and blob of a data folder to a ClickHouse server, counted and compared part by part. You can interrupt it and start it again. No server may use the folder. User, password, database and bucket come from the settings.",
    )
    .requiredOption("--from <dir>", "the data folder")
    .requiredOption("--to <url>", "the ClickHouse server, as store.url")
    .option("--config <file>", "the settings file instead of tributary.toml")
    .addHelpText("after", "\nExample:\n  tributary migrate --from .tributary --to http://clickhouse:8123\n")
    .action(async (options: MigrateOptions) => {
      const named = { ...options, data: options.from };
      const there = toConfig(context, named, { storeUrl: options.to });
      const here = toConfig(context, named, { storeUrl: "", storeCluster: "", busUrl: "", blobsKind: "fs" });
      requireDataFolder(here.dataDir);
      if (!hasOwnStore(here.dataDir))
        throw new Exit(
          exitCodes.usage,
          `${here.dataDir} has no store of its own: its collector kept its rows elsewhere.`,
          `What its journal still holds is stored by: tributary adopt ${here.dataDir}`,
        );
      await withTarget(there, (target) =>
        withCollector(here, (collector) => copyAll(context, collector, target, there)),
      );
    });
}

/** Checked before anything is opened, so that a wrong address is reported at once. */
async function withTarget(there: Config, use: (target: Store) => Promise<void>): Promise<void> {
  const target = await createStore(toStoreAddress(there, () => undefined));
  try {
    await migrate(target);
    await use(target);
  } finally {
    await target.close();
  }
}

interface Progress {
  readonly to: string;
  readonly position: number;
  readonly done: number;
}

async function copyAll(context: Context, collector: Collector, target: Store, there: Config): Promise<void> {
  const path = join(there.dataDir, "migration");
  const at = { to: there.storeUrl, position: collector.writer.stored };
  const before = await readProgress(path);
  // Records accepted since then would shift the parts.
  const done = before !== null && before.to === at.to && before.position === at.position ? before.done : 0;
  if (done > 0) printLine(context, `Resuming after ${formatCount(done, "part")} copied earlier.`);
  const rows = await copyStore(collector.store, target, {
    collector: collector.id,
    done,
    async onPart(parts, table, count) {
      printLine(context, `${table.padEnd(18)}${formatCount(count, "row")}`);
      const progress = JSON.stringify({ ...at, done: parts } satisfies Progress);
      await writeDurableText(path, progress);
      stopWhereAsked(context);
    },
  });
  const blobs = await copyBlobs(context, collector, there);
  await rm(path, { force: true });
  printLine(context, `Copied ${formatCount(rows, "row")}${blobs}; both sides are equal.`);
  printLine(context, "Start collectors with this store.url on new data folders; the old folder is unchanged.");
}

function stopWhereAsked({ stop }: Context): void {
  if (stop.aborted)
    throw new Exit(
      exitCodes.interrupted,
      "Interrupted.",
      "Run the same command to go on from here; nothing is copied twice.",
    );
}

async function readProgress(path: string): Promise<Progress | null> {
  return JSON.parse((await readDurableText(path)) ?? "null") as Progress | null;
}

/** Copies blobs to the bucket of the settings; without one they stay where they are. Returns words for the last line. */
async function copyBlobs(context: Context, { store, blobs }: Collector, there: Config): Promise<string> {
  const keys = await readBlobKeys(store);
  if (there.blobsKind === "fs") {
    if (keys.length === 0) return "";
    printLine(
      context,
      `${formatCount(keys.length, "blob stays", "blobs stay")} in ${join(there.dataDir, "blobs")}: collectors on other folders do not see ` +
        'what is there. With blobs.kind = "s3" the same command copies it to the bucket.',
    );
    return "";
  }
  const target = await openBlobs(there);
  try {
    let copied = 0;
    for (const key of keys) {
      const size = await blobs.size(key);
      if (size !== null) copied++;
      if (size !== null && size !== (await target.size(key))) await target.put(key, blobs.read(key));
      stopWhereAsked(context);
    }
    const missing = keys.length - copied;
    if (missing > 0) printLine(context, `${formatCount(missing, "blob")} that rows name are not in the folder.`);
    return ` and ${formatCount(copied, "blob")}`;
  } finally {
    await target.close();
  }
}
