// tributary import: spool folders, XTrack files and trace lines into a server.

import { SingleBar } from "cli-progress";
import type { Command } from "commander";
import { type ConnectOptions, withClient } from "#cli/connect.ts";
import { type Context, paint } from "#cli/context.ts";
import { Exit, exitCodes } from "#cli/exit.ts";
import { formatBytes, formatCount } from "#cli/format.ts";
import { type ImportResult, importPaths } from "#cli/import/import.ts";
import { addConnectOptions, addJsonOption } from "#cli/options.ts";
import { printJson, printLine } from "#cli/print.ts";

interface ImportCommandOptions extends ConnectOptions {
  readonly follow?: boolean;
  readonly speed: string;
  readonly runId?: string;
  readonly json?: boolean;
}

export function addImport(program: Command, context: Context): void {
  const command = program
    .command("import")
    .summary("read traces from files and folders")
    .description(
      "Reads Cirron spool folders, XTrack files and Semantiva trace lines, told apart by what is in them. What is already " +
        "known is not stored again, so importing twice is harmless. Returns when everything can be queried.",
    )
    .argument("<path...>", "files or folders")
    .option("--follow", "keep reading what is added, until Ctrl-C")
    .option("--speed <speed>", "instant, realtime, or a factor such as 10x", "instant")
    .option("--run-id <id>", "put everything into this run")
    .addHelpText("after", "\nExample:\n  tributary import .cirron events.xtrack.bin traces/*.jsonl\n");
  addJsonOption(addConnectOptions(command)).action(async (paths: string[], options: ImportCommandOptions) => {
    const result = await withClient(context, { ...options, mayCreate: true }, (client) => {
      const bar = options.json ? undefined : createBar(context);
      return importPaths({
        client,
        paths,
        speed: options.speed,
        follow: options.follow ?? false,
        stop: context.stop,
        ...(options.runId === undefined ? {} : { runId: options.runId }),
        onFound: (files) => bar?.grow(files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)),
        onBytes: (bytes) => bar?.advance(bytes),
      }).finally(() => bar?.stop());
    });
    if (options.json) printJson(context, result);
    else printResult(context, result);
    if (result.unknown.length > 0) {
      const names = result.unknown.join(", ");
      throw new Exit(
        exitCodes.negative,
        `Nothing to read in ${names}.`,
        "Is it a spool, an XTrack file or trace lines?",
      );
    }
  });
}

function printResult(
  context: Context,
  { files, batches, accepted, duplicates, blobs, bytes, ...rest }: ImportResult,
): void {
  const parts = [
    ...(batches > 0 ? [formatCount(batches, "batch", "batches")] : []),
    ...(accepted > 0 ? [formatCount(accepted, "record")] : []),
    ...(duplicates > 0 ? [`${formatCount(duplicates, "record")} already known`] : []),
    ...(blobs > 0 ? [formatCount(blobs, "blob")] : []),
  ];
  printLine(context, `${formatCount(files, "file")} (${formatBytes(bytes)}): ${parts.join(", ") || "nothing new"}`);
  if (rest.faultCount === 0) return;
  const title = `${formatCount(rest.faultCount, "fault")}, kept with their bytes:`;
  printLine(context, paint(context.stdout, context.env, "yellow", title));
  for (const { file, line, offset, code, message } of rest.faults.slice(0, 20)) {
    const place = line === undefined ? (offset === undefined ? "" : `@${offset}`) : `:${line}`;
    printLine(context, `  ${file}${place}: ${message} (${code})`);
  }
}

/** A bar on a terminal's standard error; its total grows as files are found. */
function createBar(context: Context) {
  if (context.stderr.isTTY !== true) return undefined;
  const bar = new SingleBar({
    format: "  {bar} {percentage}%  {size}",
    barCompleteChar: "█",
    barIncompleteChar: "░",
    hideCursor: true,
    clearOnComplete: true,
    stream: context.stderr as unknown as NodeJS.WritableStream,
  });
  let total = 0;
  let value = 0;
  bar.start(1, 0, { size: "" });
  const show = () => bar.update(value, { size: `${formatBytes(value)} of ${formatBytes(total)}` });
  return {
    grow(bytes: number) {
      total += bytes;
      bar.setTotal(Math.max(1, total));
      show();
    },
    advance(bytes: number) {
      value += bytes;
      show();
    },
    stop: () => bar.stop(),
  };
}
