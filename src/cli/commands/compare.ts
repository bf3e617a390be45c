// tributary compare: what differs between runs.

import type { Command } from "commander";
import { given } from "#base/given.ts";
import { askServer, type ConnectOptions } from "#cli/connect.ts";
import type { Context } from "#cli/context.ts";
import { Exit, exitCodes } from "#cli/exit.ts";
import { formatDuration, formatNumber } from "#cli/format.ts";
import { collect } from "#cli/options.ts";
import { printJson, printLine, printTable, printTitle } from "#cli/print.ts";

interface CompareOptions extends ConnectOptions {
  readonly metric?: string[];
  readonly all?: boolean;
}

export function addCompare(program: Command, context: Context): void {
  const command = program
    .command("compare")
    .summary("compare runs")
    .description("Shows what differs between runs: parameters, environment, source, metrics, and where they diverge.")
    .argument("<run...>", "two or more runs")
    .option("--metric <key>", "look for the point of divergence in this metric (may be repeated)", collect)
    .option("--all", "show also what is equal")
    .addHelpText("after", "\nExample:\n  tributary compare run-a run-b --metric loss\n");
  askServer(context, command, async (client, options: CompareOptions, ids: string[]) => {
    if (ids.length < 2) throw new Exit(exitCodes.usage, "Name two or more runs to compare.");
    const answer = await client.call("compare", { query: { run: ids, ...given({ key: options.metric }) } });
    if (options.json) return printJson(context, answer);
    for (const id of answer.missing)
      context.stderr.write(`There is no run with the id ${JSON.stringify(id)}; it is left out.\n`);
    const columns = [{ title: "" }, ...answer.runs.map(({ name }) => ({ title: name, minWidth: 8 }))];
    for (const part of ["params", "env", "source"] as const) {
      const rows = answer[part].filter(({ differs }) => differs || options.all);
      if (rows.length === 0) continue;
      printTitle(context, { params: "Parameters", env: "Environment", source: "Source" }[part]);
      printTable(
        context,
        columns,
        rows.map(({ name, values }) => [name, ...values.map((value) => value ?? "–")]),
      );
    }
    if (answer.metrics.length > 0) {
      printTitle(context, "Metrics (last)");
      const rows = answer.metrics.map(({ key, phase, last }) => [
        phase === "" ? key : `${key} (${phase})`,
        ...last.map(formatNumber),
      ]);
      printTable(context, columns, rows);
    }
    const parted = answer.divergence.filter(({ step }) => step !== null);
    if (parted.length > 0) printTitle(context, "Divergence");
    for (const { key, run, step, reference, value } of parted) {
      printLine(
        context,
        `${key}: ${run} parts at step ${step} (${formatNumber(reference)} and ${formatNumber(value)})`,
      );
    }
    const spans = answer.spans.slice(0, 15);
    if (spans.length === 0) return;
    printTitle(context, "Time (total)");
    printTable(
      context,
      columns,
      spans.map(({ name, wall_ns }) => [name, ...wall_ns.map((ns) => formatDuration(ns) || "–")]),
    );
  });
}
