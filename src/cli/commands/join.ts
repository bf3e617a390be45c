// tributary join and part: makes separately recorded runs one run, or separates them again.

import type { Command } from "commander";
import { askServer, type ConnectOptions } from "#cli/connect.ts";
import type { Context } from "#cli/context.ts";
import { Exit, exitCodes } from "#cli/exit.ts";
import { formatCount } from "#cli/format.ts";
import { printJson, printLine } from "#cli/print.ts";

export function addJoin(program: Command, context: Context): void {
  const command = program
    .command("join")
    .summary("make runs one")
    .description("Joins runs that belong together: the others become part of the first, with their live data.")
    .argument("<run...>", "the run that stays, then those that join it")
    .addHelpText("after", "\nExample:\n  tributary join my-run 6f1c0a52\n");
  askServer(context, command, async (client, options: ConnectOptions, [id, ...ids]: string[]) => {
    if (id === undefined || ids.length === 0)
      throw new Exit(exitCodes.usage, "Name the run that stays, then those that join it.");
    const run = await client.call("joinRuns", { params: { id }, body: { ids } });
    if (options.json) return printJson(context, run);
    printLine(context, `${run.id} is made of ${formatCount(run.joined.length + 1, "run")} now.`);
  });
}

export function addPart(program: Command, context: Context): void {
  const command = program
    .command("part")
    .summary("part joined runs again")
    .description("Parts a run from the one it was joined to. Given that one, parts all runs joined to it.")
    .argument("<run>", "a joined run, or the run that others were joined to")
    .addHelpText("after", "\nExample:\n  tributary part my-run\n");
  askServer(context, command, async (client, options: ConnectOptions, id: string) => {
    const answer = await client.call("partRuns", { params: { id } });
    if (options.json) return printJson(context, answer);
    printLine(context, `On its own again: ${answer.parted.join(", ")}.`);
  });
}
