// tributary show: one run, with small charts of its metrics.

import type { Command } from "commander";
import type { Verdict } from "#api/contract/judge.ts";
import type { Run } from "#api/contract/run.ts";
import type { MetricInfo, Series } from "#api/contract/series.ts";
import { largestOf, smallestOf } from "#base/extremes.ts";
import { formatChart, formatSparkline } from "#cli/chart.ts";
import type { Client } from "#cli/client.ts";
import { askServer, type ConnectOptions } from "#cli/connect.ts";
import { type Context, paint, widthOf } from "#cli/context.ts";
import { Exit, exitCodes } from "#cli/exit.ts";
import { formatCount, formatDuration, formatNumber, formatTime } from "#cli/format.ts";
import { collect } from "#cli/options.ts";
import { paintStatus, printFields, printJson, printLine, printRows, printTitle } from "#cli/print.ts";
import { toPlainText } from "#cli/table.ts";

interface ShowOptions extends ConnectOptions {
  readonly metric?: string[];
}

export function addShow(program: Command, context: Context): void {
  const command = program
    .command("show")
    .summary("show one run")
    .description(
      "Shows a run: how it went, what is wrong with it, its parameters, its metrics as small charts, where its time went.",
    )
    .argument("<run>", "id or alias")
    .option("--metric <key>", "draw this metric large (may be repeated)", collect)
    .addHelpText("after", "\nExample:\n  tributary show my-run --metric loss\n");
  askServer(context, command, async (client, options: ShowOptions, id: string) => {
    const run = await client.call("run", { params: { id } });
    const { metrics } = await client.call("metrics", { params: { id } });
    const { verdicts } = await client.call("verdicts", { params: { id } });
    if (options.json) return printJson(context, { run, metrics, verdicts });
    if (options.metric) return drawMetrics(context, client, id, metrics, options.metric);
    printHead(context, run);
    printVerdicts(context, verdicts);
    await printMetrics(context, client, id, metrics);
    await printSpans(context, client, id, run);
  });
}

function printHead(context: Context, run: Run): void {
  const { counts } = run;
  printLine(
    context,
    `${paint(context.stdout, context.env, "bold", toPlainText(run.name))}  ${paintStatus(context, run.status)}`,
  );
  const things = [
    ["metric", counts.metrics],
    ["point", counts.points],
    ["span", counts.spans],
    ["node", counts.nodes],
    ["snapshot", counts.snapshots],
    ["log line", counts.logs],
    ["artifact", counts.artifacts],
    ["checkpoint", counts.checkpoints],
  ] as const;
  const trouble = [
    ...(counts.faults > 0 ? [formatCount(counts.faults, "fault")] : []),
    ...(counts.missing > 0 ? [`${counts.missing} events missing`] : []),
  ];
  printFields(context, [
    ["id", run.id],
    ["aliases", run.aliases.join(", ")],
    ["joined", run.joined.map((part) => part.id).join(", ")],
    ["experiment", run.experiment],
    ["tags", run.tags.join(", ")],
    ["from", run.protocols.join(", ")],
    ["started", run.start_ns === null ? "" : `${formatTime(run.start_ns)} UTC`],
    ["took", formatDuration(run.duration_ns)],
    ["workers", run.workers > 1 ? String(run.workers) : ""],
    ["commit", run.source["commit"] ?? ""],
    ["has", things.flatMap(([name, count]) => (count > 0 ? [formatCount(count, name)] : [])).join(", ")],
    ["trouble", trouble.join(", ")],
    ["error", toErrorText(run)],
    ["notes", run.notes],
  ]);
  for (const note of run.notes_on_data) printLine(context, `· ${toPlainText(note)}`);
  const params = Object.entries(run.params);
  if (params.length === 0) return;
  printTitle(context, "Parameters");
  printFields(context, params.slice(0, 40));
  if (params.length > 40) printLine(context, `… ${params.length - 40} more`);
}

/** A program that only exited with a code has no type of error. */
function toErrorText({ error, error_detail: detail }: Run): string {
  if (detail === null) return error;
  return [detail.type, detail.message].filter((part) => part !== "").join(": ");
}

/** What is wrong with the run or limits its speed. */
function printVerdicts(context: Context, verdicts: readonly Verdict[]): void {
  if (verdicts.length === 0) return;
  printTitle(context, "Verdicts");
  const styles = { bad: "red", warn: "yellow", info: "reset" } as const;
  for (const { severity, confidence, text, evidence, next } of verdicts) {
    const certainty = confidence === "medium" ? " (likely, not certain)" : "";
    printLine(context, `${paint(context.stdout, context.env, styles[severity], toPlainText(text))}${certainty}`);
    for (const line of evidence) printLine(context, `  · ${toPlainText(line)}`);
    printLine(context, `  → ${toPlainText(next)}`);
  }
}

async function printMetrics(context: Context, client: Client, id: string, metrics: readonly MetricInfo[]) {
  if (metrics.length === 0) return;
  const shown = metrics.slice(0, 30);
  const keys = [...new Set(shown.map(({ key }) => key))];
  const { series } = await client.call("series", { body: { runs: [id], keys, buckets: 24 } });
  printTitle(context, "Metrics");
  const sparkOf = (metric: MetricInfo) => series.find(({ key, phase }) => key === metric.key && phase === metric.phase);
  const right = { align: "right" } as const;
  printRows(context, shown, [
    { title: "KEY", minWidth: 10, cell: ({ key, phase }) => (phase === "" ? key : `${key} (${phase})`) },
    { title: "", minWidth: 8, cell: (metric) => formatSparkline(sparkOf(metric)?.last.map(toNumber) ?? []) },
    { title: "LAST", ...right, cell: ({ last }) => formatNumber(last) },
    { title: "MIN", ...right, cell: ({ min }) => formatNumber(min) },
    { title: "MAX", ...right, cell: ({ max }) => formatNumber(max) },
    { title: "POINTS", ...right, cell: ({ count }) => String(count) },
    {
      title: "NOT FINITE",
      ...right,
      minWidth: 4,
      cell: ({ nan, pos_inf, neg_inf }) => (nan + pos_inf + neg_inf === 0 ? "" : String(nan + pos_inf + neg_inf)),
    },
  ]);
  if (metrics.length > shown.length) printLine(context, `… ${metrics.length - shown.length} more; --metric draws one`);
}

async function printSpans(context: Context, client: Client, id: string, { counts }: Run): Promise<void> {
  if (counts.spans + counts.nodes === 0) return;
  const { rows } = await client.call("spanSummary", { params: { id } });
  printTitle(context, "Time");
  const right = { align: "right", minWidth: 6 } as const;
  printRows(context, rows.slice(0, 20), [
    { title: "NAME", minWidth: 10, cell: ({ name }) => name },
    { title: "COUNT", ...right, cell: ({ count }) => String(count) },
    { title: "TOTAL", ...right, cell: ({ wall_ns }) => formatDuration(wall_ns) },
    { title: "P50", ...right, cell: ({ p50_ns }) => formatDuration(p50_ns) },
    { title: "P95", ...right, cell: ({ p95_ns }) => formatDuration(p95_ns) },
    { title: "P99", ...right, cell: ({ p99_ns }) => formatDuration(p99_ns) },
    { title: "GPU", ...right, cell: ({ gpu_ns }) => formatDuration(gpu_ns) },
  ]);
}

async function drawMetrics(
  context: Context,
  client: Client,
  id: string,
  metrics: readonly MetricInfo[],
  keys: readonly string[],
): Promise<void> {
  for (const key of keys) {
    if (!metrics.some((metric) => metric.key === key)) {
      const known = metrics.map((metric) => metric.key).slice(0, 20);
      throw new Exit(exitCodes.negative, `This run has no metric ${key}.`, `It has: ${known.join(", ")}`);
    }
  }
  const width = Math.max(20, Math.min(100, widthOf(context.stdout) - 12));
  const { series } = await client.call("series", { body: { runs: [id], keys: [...keys], buckets: width * 2 } });
  for (const one of series) drawSeries(context, one, width);
}

function drawSeries(context: Context, one: Series, width: number): void {
  printTitle(context, one.phase === "" ? one.key : `${one.key} (${one.phase})`);
  const lines = formatChart(one.min, one.max, width, 8);
  const top = one.max.filter((value): value is number => value !== null);
  const bottom = one.min.filter((value): value is number => value !== null);
  for (const [at, line] of lines.entries()) {
    const label = at === 0 ? largestOf(top) : at === lines.length - 1 ? smallestOf(bottom) : undefined;
    const text = label === undefined || !Number.isFinite(label) ? "" : formatNumber(label);
    printLine(context, `${text.padStart(10)} ${line}`);
  }
  const base = BigInt(one.x_base);
  const first = base + BigInt(Math.trunc(one.x[0] ?? 0));
  const last = base + BigInt(Math.trunc(one.x_last.at(-1) ?? 0));
  const odd = [...one.nan, ...one.pos_inf, ...one.neg_inf].reduce((sum, count) => sum + count, 0);
  const note = odd === 0 ? "" : `, ${formatCount(odd, "point")} not finite`;
  printLine(context, `${" ".repeat(11)}${first} … ${last}, ${formatCount(one.points, "point")}${note}`);
}

function toNumber(value: number | string | null): number | null {
  return typeof value === "string" ? Number(value) : value;
}
