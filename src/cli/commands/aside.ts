// tributary aside: accepted records that could not be applied.

import type { Command } from "commander";
import { askServer, type ConnectOptions } from "#cli/connect.ts";
import type { Context } from "#cli/context.ts";
import { Exit, exitCodes } from "#cli/exit.ts";
import { formatBytes, formatCount } from "#cli/format.ts";
import { toCount } from "#cli/options.ts";
import { printJson, printLine, printTable } from "#cli/print.ts";

export function addAside(program: Command, context: Context): void {
  const aside = program
    .command("aside")
    .summary("list and retry records that could not be applied")
    .description(
      "Lists accepted records that could not be applied and were set aside with their bytes, so that the server goes on.",
    )
    .addHelpText("after", "\nExample:\n  tributary aside retry\n");
  const list = aside
    .command("list", { isDefault: true })
    .summary("list them with the reasons")
    .addHelpText("after", "\nExample:\n  tributary aside list\n");
  askServer(context, list, async (client, options: ConnectOptions) => {
    const answer = await client.call("setAside", {});
    if (options.json) return printJson(context, answer);
    if (answer.records.length === 0) return printLine(context, "Nothing is set aside.");
    const rows = answer.records.map(({ position, at, tries, bytes, reason }) => {
      return [String(position), at, String(tries), formatBytes(bytes), reason];
    });
    printTable(context, ["POSITION", "SET ASIDE", "TRIES", "SIZE", "REASON"], rows);
  });

  const retry = aside
    .command("retry")
    .summary("try them again, as after an upgrade")
    .argument("[positions...]", "only these, from the list (default: all)", (text, before: number[] = []) => [
      ...before,
      toCount(text),
    ])
    .addHelpText("after", "\nExample:\n  tributary aside retry 1203\n");
  askServer(context, retry, async (client, options: ConnectOptions, positions: number[] = []) => {
    const body = positions.length === 0 ? {} : { positions };
    const answer = await client.call("retryAside", { body });
    if (options.json) return printJson(context, answer);
    printLine(context, `Tried ${formatCount(answer.tried, "record")}; ${answer.left} set aside now.`);
    const unknown = new Set(positions).size - answer.tried;
    if (unknown > 0)
      throw new Exit(
        exitCodes.negative,
        `Not set aside: ${unknown} of these positions.`,
        "tributary aside lists them.",
      );
  });
}
