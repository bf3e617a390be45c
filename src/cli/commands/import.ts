// tributary import: spool folders, XTrack files and trace lines into a server.

import { SingleBar } from "cli-progress";
import type { Command } from "commander";
import { given } from "#base/given.ts";
import { type ConnectOptions, withClient } from "#cli/connect.ts";
import { type Context, paint } from "#cli/context.ts";
import { Exit, exitCodes } from "#cli/exit.ts";
import { formatBytes, formatCount } from "#cli/format.ts";
import { type ImportResult, importPaths } from "#cli/import/import.ts";
import { addConnectOptions, addJsonOption, toRunId } from "#cli/options.ts";
import { printJson, printLine } from "#cli/print.ts";

interface ImportCommandOptions extends ConnectOptions {
  readonly follow?: boolean;
  readonly speed: string;
  readonly runId?: string;
}

export function addImport(program: Command, context: Context): void {
  const command = program
    .command("import")
    .summary("read traces from files and folders")
    .description(
      "Reads Cirron spool folders, XTrack files, Semantiva trace lines, OTLP requests and JSONL exports, told apart by what " +
        "is in them. What is already known is not stored again, so importing twice is harmless. Returns when everything can " +
        "be queried; exits 1 when there were faults. Links that lead out of a folder and Tributary's own data folders are " +
        "not read.",
    )
    .argument("<path...>", "files or folders")
    .option("--follow", "keep reading what is added, until Ctrl-C, across restarts of the server")
    .option("--speed <speed>", "instant, realtime, or a factor such as 10x", "instant")
    .option("--run-id <id>", "put everything into this run", toRunId)
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
        ...given({ runId: options.runId }),
        onFound: (files) => bar?.grow(files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)),
        onBytes: (bytes) => bar?.advance(bytes),
        onWait: createNotice(context),
      }).finally(() => bar?.stop());
    });
    if (options.json) printJson(context, result);
    else printResult(context, result);
    complain(result);
    if (result.faultCount > 0) throw new Exit(exitCodes.negative, "");
  });
}

/** Fails for named paths that could not be read. Unreadable files inside a named folder are only reported. */
function complain({ unknown, missing, passed, files }: ImportResult): void {
  if (missing.length > 0) {
    throw new Exit(exitCodes.usage, `There is no ${missing.join(", no ")}.`, "Is the path right?");
  }
  if (files === 0 && passed.length > 0) throw new Exit(exitCodes.negative, "There is nothing else to read.");
  if (unknown.length > 0) {
    throw new Exit(
      exitCodes.negative,
      `Nothing to read in ${unknown.join(", ")}.`,
      "Spools with batches in them, XTrack files, trace lines, OTLP requests and exports can be read, none of them compressed.",
    );
  }
}

function printResult(context: Context, result: ImportResult): void {
  const { files, batches, accepted, duplicates, blobs, bytes, passed, faultCount, faults } = result;
  const parts = [
    ...(batches > 0 ? [formatCount(batches, "batch", "batches")] : []),
    ...(accepted > 0 ? [`${formatCount(accepted, "new record")}`] : ["nothing new"]),
    ...(duplicates > 0 ? [`${formatCount(duplicates, "record")} already known`] : []),
    ...(blobs > 0 ? [formatCount(blobs, "blob")] : []),
  ];
  printLine(context, `${formatCount(files, "file")} (${formatBytes(bytes)}): ${parts.join(", ")}`);
  for (const { path, reason } of passed) context.stderr.write(`${path} was not read: ${reason}\n`);
  if (faultCount === 0) return;
  const title = `${formatCount(faultCount, "fault")}, kept with ${faultCount === 1 ? "its" : "their"} bytes:`;
  printLine(context, paint(context.stdout, context.env, "yellow", title));
  for (const { file, line, offset, code, message } of faults.slice(0, 20)) {
    const place = line === undefined ? (offset === undefined ? "" : `@${offset}`) : `:${line}`;
    printLine(context, `  ${file}${place}: ${message} (${code})`);
  }
}

/** Says only once why the command waits for the server. */
function createNotice(context: Context): (reason: string) => void {
  let said = "";
  return (reason) => {
    if (reason !== said) context.stderr.write(`${reason} Waiting for it.\n`);
    said = reason;
  };
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
