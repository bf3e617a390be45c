// tributary post-mortem: why a run died.

import type { Command } from "commander";
import type { PostMortem } from "#api/contract/post-mortem.ts";
import { askServer, type ConnectOptions } from "#cli/connect.ts";
import { type Context, paint } from "#cli/context.ts";
import { formatDuration, formatNumber, formatTime } from "#cli/format.ts";
import { printFields, printJson, printLine, printTable, printTitle } from "#cli/print.ts";
import { toPlainText } from "#cli/table.ts";

export function addPostMortem(program: Command, context: Context): void {
  const command = program
    .command("post-mortem")
    .summary("say why a run died")
    .description("Says why a run died: when each worker was last heard of, what was open, and the last metrics.")
    .argument("<run>", "id or alias")
    .addHelpText("after", "\nExample:\n  tributary post-mortem my-run\n");
  askServer(context, command, async (client, options: ConnectOptions, id: string) => {
    const found = await client.call("postMortem", { params: { id } });
    if (options.json) return printJson(context, found);
    printCause(context, found);
    printWorkers(context, found);
    printOpen(context, found);
    printMetrics(context, found);
  });
}

function printCause(context: Context, found: PostMortem): void {
  printLine(context, paint(context.stdout, context.env, "bold", toPlainText(found.text)));
  for (const line of found.evidence) printLine(context, `  · ${toPlainText(line)}`);
  printFields(context, [
    ["last step", found.last_step ?? ""],
    ["ended", found.end_ns === null ? "" : `${formatTime(found.end_ns)} UTC`],
  ]);
  if (found.collective !== null && found.cause !== "hung_collective")
    printLine(context, toPlainText(found.collective.text));
  for (const reason of found.refused) printLine(context, `· ${toPlainText(reason)}`);
  if (found.traceback !== "") {
    printTitle(context, "Traceback");
    for (const line of found.traceback.split("\n")) printLine(context, toPlainText(line));
  }
  if (found.lines.length === 0) return;
  printTitle(context, "Lines");
  for (const { text } of found.lines) printLine(context, toPlainText(text));
}

function printWorkers(context: Context, { workers }: PostMortem): void {
  if (workers.length === 0) return;
  printTitle(context, "Last signs of life");
  const rows = workers.map(({ worker, last_ns, behind_ns, last_step, doing }) => [
    worker === "" ? "–" : worker,
    formatTime(last_ns),
    behind_ns === "0" ? "" : formatDuration(behind_ns),
    last_step ?? "",
    toPlainText(doing),
  ]);
  printTable(context, ["WORKER", "LAST HEARD", "BEFORE THE LAST", "STEP", "DOING"], rows);
}

function printOpen(context: Context, { open }: PostMortem): void {
  if (open.length === 0) return;
  printTitle(context, "Open when it died");
  for (const { name, rank, holds } of open.slice(0, 20)) {
    const what = name === "" ? "a scope that never arrived" : name;
    printLine(
      context,
      `${toPlainText(what)}${rank === null ? "" : `, rank ${rank}`}${holds === "" ? "" : `: ${toPlainText(holds)}`}`,
    );
  }
}

function printMetrics(context: Context, { metrics }: PostMortem): void {
  if (metrics.length === 0) return;
  printTitle(context, "Last metrics");
  const rows = metrics.map(({ key, phase, last, last_step, nan, pos_inf, neg_inf }) => [
    phase === "" ? key : `${key} (${phase})`,
    formatNumber(last),
    last_step ?? "",
    nan + pos_inf + neg_inf === 0 ? "" : String(nan + pos_inf + neg_inf),
  ]);
  printTable(context, ["KEY", "LAST", "STEP", "NOT FINITE"], rows);
}
