// tributary export: writes a run, or the runs of a filter, to files.

import { constants, createWriteStream, fstatSync, lstatSync } from "node:fs";
import { access, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type Command, Option } from "commander";
import { ExportFormat, ExportKind } from "#api/contract/export.ts";
import { wordsOf } from "#api/contract/scalar.ts";
import { given } from "#base/given.ts";
import { type ConnectOptions, withClient } from "#cli/connect.ts";
import type { Context, Output } from "#cli/context.ts";
import { Exit, exitCodes } from "#cli/exit.ts";
import { pushLines, toHeaders } from "#cli/export/push-otlp.ts";
import { addConnectOptions, collect } from "#cli/options.ts";

interface ExportOptions extends ConnectOptions {
  readonly format: "jsonl";
  readonly kind?: "metrics";
  readonly filter?: string;
  readonly out?: string;
  readonly to?: string;
  readonly header?: readonly string[];
}

export function addExport(program: Command, context: Context): void {
  const command = program
    .command("export")
    .summary("write a run, or several, to a file")
    .description(
      "Writes JSONL (everything, without loss, can be imported again), CSV or Parquet (one kind a file), a Chrome trace " +
        "that Perfetto opens, or OTLP: requests as JSON, one a line, or those of one signal in protobuf. --to sends OTLP " +
        "to another receiver instead.",
    )
    .argument("[run]", "id or alias; or use --filter")
    .addOption(new Option("--format <format>", "what to write").choices(wordsOf(ExportFormat)).default("jsonl"))
    .addOption(new Option("--kind <kind>", "which rows to write, for CSV and Parquet").choices(wordsOf(ExportKind)))
    .option("--filter <filter>", "the runs to export")
    .option("--out <file>", "where to write (default: standard output)")
    .addOption(
      new Option("--to <url>", "send to this OTLP receiver, as OTEL_EXPORTER_OTLP_ENDPOINT names it").conflicts([
        "format",
        "kind",
        "out",
      ]),
    )
    .option("--header <name=value>", "a header for --to, such as authorization=… (may be repeated)", collect)
    .addHelpText(
      "after",
      "\nExample:\n  tributary export my-run --format chrome --out trace.json\n" +
        "  tributary export my-run --to http://127.0.0.1:4318\n",
    );
  addConnectOptions(command).action(async (id: string | undefined, options: ExportOptions) => {
    if ((id === undefined) === (options.filter === undefined)) {
      throw new Exit(exitCodes.usage, "Name a run, or give --filter.", "All runs: tributary export --filter ''");
    }
    if (options.out === undefined && options.format === ("parquet" as string) && context.stdout.isTTY) {
      throw new Exit(exitCodes.usage, "Parquet cannot be shown on a terminal; use --out FILE.");
    }
    const { kind, filter, to, header } = options;
    if (to !== undefined && !/^https?:$/.test(URL.parse(to)?.protocol ?? "")) {
      throw new Exit(
        exitCodes.usage,
        `--to must be a URL that begins with http:// or https://, not ${JSON.stringify(to)}`,
      );
    }
    if (to === undefined && header !== undefined) throw new Exit(exitCodes.usage, "--header is only for --to.");
    const isTable = options.format === ("csv" as string) || options.format === ("parquet" as string);
    if (kind !== undefined && !isTable) throw new Exit(exitCodes.usage, "--kind is only for --format csv and parquet.");
    await withClient(context, options, async (client) => {
      const format = to === undefined ? options.format : ("otlp" as "jsonl");
      const query = { format, ...given({ kind }) };
      const response =
        id === undefined
          ? await client.open("exportRuns", { query: { ...query, ...given({ filter }) } })
          : await client.open("exportRun", { params: { id }, query });
      if (to === undefined) await writeResponse(context, response, options.out);
      else await pushLines(context, response, { url: to, headers: toHeaders(header ?? []) });
    });
  });
}

export async function writeResponse(context: Context, response: Response, out: string | undefined): Promise<void> {
  if (!response.body) return;
  const body = Readable.fromWeb(response.body as never);
  if (out !== undefined) await writeWhole(body, out);
  else await writeToOutput(body, context.stdout);
}

/** No faster than the output is read, or the rest would be held in memory. */
async function writeToOutput(body: Readable, output: Output): Promise<void> {
  const { fd } = output;
  // The runtime's own stream does not notice when a disk that is nearly full takes a part of a write.
  if (fd !== undefined && fstatSync(fd).isFile()) {
    return pipeline(body, createWriteStream("", { fd, autoClose: false }));
  }
  for await (const chunk of body) {
    if (output.write(chunk as Uint8Array) === false)
      await new Promise<void>((resolve) => output.once?.("drain", resolve));
  }
}

/** If the answer is cut off, an earlier file stays as it was. */
async function writeWhole(body: Readable, out: string): Promise<void> {
  if (!(await mayReplace(out))) return pipeline(body, createWriteStream(out));
  const partial = `${out}.partial`;
  try {
    await pipeline(body, createWriteStream(partial, { flush: true }));
    await rename(partial, out);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

/** A pipe or a link is written to directly, and so is a file in a folder where no other can be made. */
async function mayReplace(out: string): Promise<boolean> {
  if (lstatSync(out, { throwIfNoEntry: false })?.isFile() === false) return false;
  return access(dirname(out), constants.W_OK).then(
    () => true,
    () => false,
  );
}
