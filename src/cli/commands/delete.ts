// tributary delete: remove runs with their rows and blobs.

import { createInterface } from "node:readline/promises";
import { type Command, InvalidArgumentError } from "commander";
import { askServer, type ConnectOptions } from "#cli/connect.ts";
import type { Context } from "#cli/context.ts";
import { Exit, exitCodes } from "#cli/exit.ts";
import { formatCount } from "#cli/format.ts";
import { printJson, printLine } from "#cli/print.ts";

interface DeleteOptions extends ConnectOptions {
  readonly filter?: string;
  readonly yes?: boolean;
}

export function addDelete(program: Command, context: Context): void {
  const command = program
    .command("delete")
    .summary("delete runs for good")
    .description("Deletes runs with their rows and blobs. Asks first, unless --yes.")
    .argument("[run...]", "ids or aliases; or use --filter")
    .option("--filter <filter>", "the runs to delete", toFilter)
    .option("--yes", "do not ask")
    .addHelpText("after", "\nExample:\n  tributary delete --filter 'tags:scratch AND end<-30d'\n");
  askServer(context, command, async (client, options: DeleteOptions, ids: string[]) => {
    if ((ids.length === 0) === (options.filter === undefined)) {
      throw new Exit(exitCodes.usage, "Name the runs to delete, or give --filter.");
    }
    // Says which one is not there, before anything is asked or deleted. Several ids may name one run.
    const runs = new Set<string>();
    for (const id of ids) runs.add((await client.call("run", { params: { id } })).id);
    const which = options.filter === undefined ? { ids: [...runs] } : { filter: options.filter };
    const expect =
      options.filter === undefined
        ? runs.size
        : (await client.call("runs", { query: { filter: options.filter, limit: 1, archived: "show" } })).total;
    if (expect === 0) throw new Exit(exitCodes.negative, "No run matches.");
    if (!options.yes) await confirm(context, `Delete ${formatCount(expect, "run")} for good?`);
    const answer = await client.call("deleteRuns", { body: { ...which, expect } });
    if (options.json) return printJson(context, answer);
    printLine(context, `Deleted ${formatCount(answer.deleted, "run")}.`);
  });
}

/** What is empty by mistake, as a variable of a script may be, would be every run. */
function toFilter(text: string): string {
  if (text.trim() === "") throw new InvalidArgumentError("It would delete every run.");
  return text;
}

async function confirm(context: Context, question: string): Promise<void> {
  if (!context.stdin.isTTY)
    throw new Exit(exitCodes.usage, "This cannot be undone; add --yes to do it without asking.");
  const lines = createInterface({ input: context.stdin, output: process.stderr });
  const answer = await lines.question(`${question} [y/N] `);
  lines.close();
  if (!/^y(es)?$/i.test(answer.trim())) throw new Exit(exitCodes.negative, "Nothing was deleted.");
}
