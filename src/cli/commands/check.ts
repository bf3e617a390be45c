// tributary check: validate trace files without a server.

import type { Command } from "commander";
import { checkPaths } from "#cli/check/check.ts";
import type { Context } from "#cli/context.ts";
import { Exit, exitCodes } from "#cli/exit.ts";
import { addJsonOption } from "#cli/options.ts";
import { printLine } from "#cli/print.ts";
import { formatProblem, formatSummary } from "#protocol/finding.ts";
import { readRegistry } from "#protocol/semantiva/schema-dir.ts";
import { RegistryError } from "#wire/semantiva/registry.ts";

interface CheckCommandOptions {
  readonly strict?: boolean;
  readonly schemaDir?: string;
  readonly json?: boolean;
}

export function addCheck(program: Command, context: Context): void {
  const command = program
    .command("check")
    .summary("validate trace files, without a server")
    .description(
      "Checks Cirron batches, Semantiva trace lines, XTrack frames and OTLP requests, each told by its content. Prints " +
        "file:line:column of every fault and exits 1 when there is one, or 2 when a path that was named cannot be read.",
    )
    .argument("<path...>", "files or folders, - for trace lines on standard input")
    .option("--strict", "follow the protocol's documents to the letter")
    .option("--schema-dir <dir>", "more record types: JSON Schema files and a registry.json")
    .addHelpText("after", "\nExample:\n  tributary check traces/ --strict\n");
  addJsonOption(command).action(async (paths: string[], options: CheckCommandOptions) => {
    const registry = await readRegistry(options.schemaDir ?? "").catch((error: unknown) => {
      throw error instanceof RegistryError ? new Exit(exitCodes.usage, `--schema-dir: ${error.message}.`) : error;
    });
    // A person has seen enough after a while, a program has not.
    const bound = options.json ? { problemsPerFileMax: Number.POSITIVE_INFINITY } : {};
    const stdin = context.stdin as unknown as AsyncIterable<Uint8Array>;
    let errors = 0;
    let isWrongPath = false;
    for await (const finding of checkPaths(paths, { registry, strict: options.strict ?? false, stdin, ...bound })) {
      if (finding.kind === "summary") errors = finding.errors;
      else if (finding.code === "unreadable" && paths.includes(finding.file)) isWrongPath = true;
      if (options.json) printLine(context, JSON.stringify(finding));
      else printLine(context, finding.kind === "summary" ? formatSummary(finding) : formatProblem(finding));
    }
    if (errors > 0) throw new Exit(isWrongPath ? exitCodes.usage : exitCodes.negative, "");
  });
}
