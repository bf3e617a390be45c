// tributary runs: the table of runs.

import type { Command } from "commander";
import type { RunSummary } from "#api/contract/run.ts";
import { given } from "#base/given.ts";
import { askServer, type ConnectOptions } from "#cli/connect.ts";
import { type Context, widthOf } from "#cli/context.ts";
import { formatAgo, formatCount, formatDuration, formatNumber } from "#cli/format.ts";
import { collect, countBetween } from "#cli/options.ts";
import { printJson, printLine, printRows } from "#cli/print.ts";

interface RunsOptions extends ConnectOptions {
  readonly filter?: string;
  readonly sort?: string[];
  readonly column?: string[];
  readonly limit: number;
  readonly archived?: boolean;
}

export function addRuns(program: Command, context: Context): void {
  const command = program
    .command("runs")
    .summary("list runs")
    .description("Lists runs, the newest first, filtered and sorted by any field, parameter or metric.")
    .option("--filter <filter>", "which runs, e.g. 'status:failed AND params.lr<0.01'")
    .option("--sort <field>", "sort by a field, with - in front for descending (may be repeated)", collect)
    .option("--column <field>", "show a field, e.g. params.lr or metrics.loss.last (may be repeated)", collect)
    .option("--limit <n>", "how many at most", countBetween(1, 1000), 50)
    .option("--archived", "show archived runs too")
    .addHelpText(
      "after",
      "\nExample:\n  tributary runs --filter 'metrics.val_loss.last<2' --sort -metrics.val_loss.last\n",
    );
  askServer(context, command, async (client, options: RunsOptions) => {
    const { filter, sort, column: columns, limit } = options;
    const query = given({ filter, sort, columns, limit, archived: options.archived ? ("show" as const) : undefined });
    const answer = await client.call("runs", { query });
    if (options.json) return printJson(context, answer);
    if (answer.runs.length === 0) return printLine(context, "No runs.");
    printRuns(context, answer.runs, columns ?? []);
    if (answer.next !== null) printLine(context, `… ${formatCount(answer.total, "run")} in all; --limit shows more`);
  });
}

function printRuns(context: Context, runs: readonly RunSummary[], columns: readonly string[]): void {
  const right = { align: "right" } as const;
  printRows(context, runs, [
    // An id is there to be copied, so it is cut last.
    { title: "RUN", minWidth: widthOf(context.stdout) >= 100 ? 36 : 8, cell: ({ id }) => id },
    { title: "NAME", minWidth: 8, cell: ({ id, name }) => (name === id ? "" : name) },
    { title: "STATUS", minWidth: 9, cell: (run) => run.status + formatProgress(run) },
    { title: "FROM", minWidth: 6, cell: ({ protocols }) => protocols.join("+") },
    { title: "STARTED", minWidth: 7, cell: ({ start_ns }) => formatAgo(start_ns) },
    { title: "TOOK", ...right, minWidth: 6, cell: ({ duration_ns }) => formatDuration(duration_ns) },
    { title: "TROUBLE", minWidth: 7, cell: formatTrouble },
    ...columns.map((title) => ({ title, ...right, cell: (run: RunSummary) => formatCell(run, title) })),
  ]);
}

function formatProgress({ status, progress }: RunSummary): string {
  if (status !== "running" || progress === null) return "";
  const { current, total } = progress;
  const known = typeof current === "number" && typeof total === "number" && total > 0;
  return known ? ` ${Math.floor((100 * current) / total)}%` : "";
}

function formatTrouble({ integrity, error }: RunSummary): string {
  const { faults, missing, nonfinite } = integrity;
  const parts = [
    ...(error === "" ? [] : [error]),
    ...(faults > 0 ? [formatCount(faults, "fault")] : []),
    ...(missing > 0 ? [`${missing} missing`] : []),
    ...(nonfinite > 0 ? [`${nonfinite} NaN`] : []),
  ];
  return parts.join(", ");
}

function formatCell({ cells }: RunSummary, field: string): string {
  const cell = cells[field];
  if (!cell) return "";
  return cell.num === null ? cell.text : formatNumber(cell.num);
}
