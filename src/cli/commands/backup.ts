// tributary backup and restore: the embedded data folder as one verified file.

import { createWriteStream, existsSync } from "node:fs";
import { rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Command } from "commander";
import { nodeFiles } from "#base/files.ts";
import { type ConnectOptions, withClient } from "#cli/connect.ts";
import type { Context } from "#cli/context.ts";
import { Exit, exitCodes } from "#cli/exit.ts";
import { formatBytes, formatCount } from "#cli/format.ts";
import { addConnectOptions, type SharedOptions, toConfig } from "#cli/options.ts";
import { printLine } from "#cli/print.ts";

export function addBackup(program: Command, context: Context): void {
  const command = program
    .command("backup")
    .summary("write everything to one file")
    .description("Writes runs, rows, blobs and keys to one file with checksums, while the server runs.")
    .argument("<file>", "where to write, e.g. tributary.tar")
    .addHelpText("after", "\nExample:\n  tributary backup tributary.tar\n");
  addConnectOptions(command).action(async (file: string, options: ConnectOptions) => {
    if (existsSync(file)) throw new Exit(exitCodes.usage, `${file} is there already; a backup never replaces a file.`);
    const partial = `${file}.partial`;
    let problems: readonly string[];
    try {
      problems = await withClient(context, options, async (client) => {
        const response = await client.open("backup", {});
        if (!response.body) throw new Exit(exitCodes.outage, "The server sent nothing.");
        const output = createWriteStream(partial, { mode: 0o600, flush: true });
        await pipeline(Readable.fromWeb(response.body as never), output);
        return (await client.call("readyz", { query: {} })).problems;
      });
      await rename(partial, file);
      // Not every file system can sync a folder.
      await nodeFiles.syncFolder(dirname(file)).catch(() => undefined);
    } catch (error) {
      await rm(partial, { force: true });
      throw error;
    }
    printLine(context, `Wrote ${file}, ${formatBytes((await stat(file)).size)}.`);
    if (problems.length === 0) return;
    context.stderr.write(
      `The server is not well: ${problems.join(" ")}\nWhat waits in its journal is not in the backup.\n`,
    );
  });
}

export function addRestore(program: Command, context: Context): void {
  program
    .command("restore")
    .summary("bring a backup back")
    .description(
      "Unpacks a backup into a new data folder, after checking every checksum. No server may use the folder.",
    )
    .argument("<file>", "what backup wrote")
    .option("--data <dir>", "the new data folder (default: .tributary)")
    .option("--config <file>", "the settings file instead of tributary.toml")
    .addHelpText("after", "\nExample:\n  tributary restore tributary.tar --data /var/lib/tributary\n")
    .action(async (file: string, options: SharedOptions) => {
      const { dataDir } = toConfig(context, options);
      const { restoreBackup } = await import("#archive/restore-backup.ts");
      const { rows, blobs } = await restoreBackup(file, dataDir).catch((error: { kind?: string; message: string }) => {
        if (error.kind !== "restore_folder") throw error;
        throw new Exit(exitCodes.usage, error.message, "Restore into a new folder with --data.");
      });
      printLine(context, `Restored ${formatCount(rows, "row")} and ${formatCount(blobs, "blob")} into ${dataDir}.`);
    });
}
