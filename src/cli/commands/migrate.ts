// tributary migrate: a data folder's own store into a ClickHouse server; and tributary adopt: what a collector that is
// gone for good had accepted and not stored.

import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Command } from "commander";
import { readDurable, writeDurably } from "#base/durable-file.ts";
import { nodeFiles } from "#base/files.ts";
import type { Context } from "#cli/context.ts";
import { Exit, exitCodes } from "#cli/exit.ts";
import { formatCount } from "#cli/format.ts";
import { type SharedOptions, toConfig } from "#cli/options.ts";
import { printLine } from "#cli/print.ts";
import type { Config } from "#config/settings.ts";
import { openBlobs, toStoreAddress } from "#server/app/backends.ts";
import { toCollectorOptions } from "#server/app/collector-options.ts";
import { type Collector, openCollector } from "#server/collector/collector.ts";
import { createLog } from "#server/log.ts";
import { SharedDeletions } from "#server/peers/deletions.ts";
import { createStore } from "#store/client.ts";
import { copyStore } from "#store/copy-store.ts";
import { readBlobKeys } from "#store/reader/whole-tables.ts";
import { migrate } from "#store/schema/migrate.ts";

interface MigrateOptions extends SharedOptions {
  readonly from: string;
  readonly to: string;
}

const drainMs = 8000;

export function addMigrate(program: Command, context: Context): void {
  program
    .command("migrate")
    .summary("move a data folder to a ClickHouse server")
    .description(
      "Copies every row and blob of a data folder to a ClickHouse server, counted and compared part by part. May be broken off and started again. No server may use the folder. User, password, database and bucket come from the settings.",
    )
    .requiredOption("--from <dir>", "the data folder")
    .requiredOption("--to <url>", "the ClickHouse server, as store.url")
    .option("--config <file>", "the settings file instead of tributary.toml")
    .addHelpText("after", "\nExample:\n  tributary migrate --from .tributary --to http://clickhouse:8123\n")
    .action(async (options: MigrateOptions) => {
      const here = toConfig(context, { ...options, data: options.from }, { storeUrl: "", busUrl: "", blobsKind: "fs" });
      const there = toConfig(context, { ...options, data: options.from }, { storeUrl: options.to });
      await withCollector(here, async (collector) => copyAll(context, collector, there));
    });
}

export function addAdopt(program: Command, context: Context): void {
  program
    .command("adopt")
    .summary("store what a lost collector had accepted")
    .description(
      "Stores what the journal of a collector holds that will not run again, in the ClickHouse server of the settings. Afterwards its folder may be removed.",
    )
    .argument("<folder>", "the data folder of that collector")
    .option("--config <file>", "the settings file instead of tributary.toml")
    .addHelpText("after", "\nExample:\n  tributary adopt /mnt/collector-3\n")
    .action(async (folder: string, options: SharedOptions) => {
      const config = toConfig(context, { ...options, data: folder }, { busUrl: "" });
      if (config.storeUrl === "")
        throw new Exit(
          exitCodes.usage,
          "There is no store that collectors share.",
          "Name it with store.url, in tributary.toml or as TRIBUTARY_STORE_URL.",
        );
      await withCollector(config, async (collector) => {
        const onTrouble = (message: string): void => printLine(context, message);
        const deletions = new SharedDeletions({ collector, link: null, onTrouble });
        await deletions.settle();
        await deletions.close();
        const { applied } = collector.sequencer.position;
        const what =
          applied === 0 ? "had accepted nothing" : `had accepted ${formatCount(applied, "record")}, all stored now`;
        printLine(context, `Collector ${collector.id} ${what}. Its folder may be removed.`);
      });
    });
}

async function withCollector(config: Config, use: (collector: Collector) => Promise<void>): Promise<void> {
  const collector = await openCollector(toCollectorOptions(config, createLog({ level: "error", format: "text" })));
  try {
    await collector.drained();
    await use(collector);
  } finally {
    await collector.close(drainMs);
  }
}

interface Progress {
  readonly to: string;
  readonly position: number;
  readonly done: number;
}

async function copyAll(context: Context, collector: Collector, there: Config): Promise<void> {
  const target = await createStore(toStoreAddress(there, () => undefined));
  const path = join(there.dataDir, "migration");
  try {
    await migrate(target);
    const at = { to: there.storeUrl, position: collector.writer.stored };
    const before = await readProgress(path);
    // What was accepted since would shift the parts.
    const done = before !== null && before.to === at.to && before.position === at.position ? before.done : 0;
    if (done > 0) printLine(context, `Goes on after ${formatCount(done, "part")} that are copied already.`);
    const rows = await copyStore(collector.store, target, {
      collector: collector.id,
      done,
      async onPart(parts, table, count) {
        printLine(context, `${table.padEnd(18)}${formatCount(count, "row")}`);
        const progress = JSON.stringify({ ...at, done: parts } satisfies Progress);
        await writeDurably(nodeFiles, path, [new TextEncoder().encode(progress)]);
      },
    });
    const blobs = await copyBlobs(collector, there);
    await rm(path, { force: true });
    printLine(context, `Copied ${formatCount(rows, "row")} and ${formatCount(blobs, "blob")}; both sides are equal.`);
    printLine(context, "Start collectors with this store.url on new data folders; this one keeps its own copy.");
  } finally {
    await target.close();
  }
}

async function readProgress(path: string): Promise<Progress | null> {
  const bytes = await readDurable(nodeFiles, path);
  return bytes === undefined ? null : (JSON.parse(new TextDecoder().decode(bytes)) as Progress);
}

/** To the bucket of the settings; without one, blobs stay where they are. */
async function copyBlobs(collector: Collector, there: Config): Promise<number> {
  const keys = await readBlobKeys(collector.store);
  if (there.blobsKind === "fs") return keys.length;
  const target = await openBlobs(there);
  try {
    for (const key of keys) {
      const size = await collector.blobs.size(key);
      if (size !== null && size !== (await target.size(key))) await target.put(key, collector.blobs.read(key));
    }
    return keys.length;
  } finally {
    await target.close();
  }
}
