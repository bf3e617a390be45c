// tributary sql: read-only SQL over the documented tables.

import { text } from "node:stream/consumers";
import { type Command, Option } from "commander";
import { given } from "#base/given.ts";
import { type ConnectOptions, withClient } from "#cli/connect.ts";
import type { Context } from "#cli/context.ts";
import { Exit, exitCodes } from "#cli/exit.ts";
import { formatCount } from "#cli/format.ts";
import { addConnectOptions, countBetween } from "#cli/options.ts";
import { printJson, printLine, printTable } from "#cli/print.ts";
import { writeResponse } from "./export.ts";

/** A table is for reading. */
const tableRowsMax = 10_000;

interface SqlOptions extends ConnectOptions {
  readonly format: "table" | "json" | "csv" | "parquet";
  readonly limit?: number;
  readonly out?: string;
}

export function addSql(program: Command, context: Context): void {
  const formats = ["table", "json", "csv", "parquet"];
  const command = program
    .command("sql")
    .summary("ask in SQL")
    .description(
      "Runs one read-only ClickHouse query over runs, launches, spans, marks, snapshots, metrics, params, logs, artifacts, " +
        "checkpoints, nodes, events, faults, gaps, otel_spans, otel_logs and otel_points. Without an argument the query is " +
        "read from standard input.",
    )
    .argument("[query]", "the query")
    .addOption(new Option("--format <format>", "how to print").choices(formats).default("table"))
    .option(
      "--limit <n>",
      "how many rows at most, of a table or JSON (default: 10000 in a table, else all)",
      countBetween(1, Number.MAX_SAFE_INTEGER),
    )
    .option("--out <file>", "where to write CSV or Parquet")
    .option("--json", "the same as --format json")
    .addHelpText("after", "\nExample:\n  tributary sql 'SELECT key, count() FROM metrics GROUP BY key'\n");
  addConnectOptions(command).action(async (argument: string | undefined, options: SqlOptions) => {
    const query = argument ?? (await text(context.stdin));
    const format = options.json ? "json" : options.format;
    if (options.json && options.format !== "table" && options.format !== "json")
      throw new Exit(exitCodes.usage, `--json is not for ${options.format}.`);
    if (options.out !== undefined && format !== "csv" && format !== "parquet")
      throw new Exit(exitCodes.usage, "--out is only for --format csv and parquet.");
    if (query.trim() === "") throw new Exit(exitCodes.usage, "Give a query, as an argument or on standard input.");
    if (options.limit !== undefined && (format === "csv" || format === "parquet"))
      throw new Exit(exitCodes.usage, `--limit is not for ${format}.`, "Put LIMIT into the query.");
    await withClient(context, options, async (client) => {
      if (format === "csv" || format === "parquet") {
        const body = { query, format: format as "csv" };
        return writeResponse(context, await client.open("sql", { body }), options.out);
      }
      const limit = options.limit ?? (format === "table" ? tableRowsMax : undefined);
      const answer = await client.call("sql", { body: { query, ...given({ limit }) } });
      if (format === "json") return printJson(context, answer);
      const columns = answer.columns.map(({ name, type }) => ({
        title: name,
        align: /^(Nullable\()?(U?Int|Float|Decimal)/.test(type) ? ("right" as const) : ("left" as const),
      }));
      printTable(
        context,
        columns,
        answer.rows.map((row) => row.map(formatCell)),
      );
      const more = answer.truncated ? "; there are more, see --limit" : "";
      printLine(context, `${formatCount(answer.rows.length, "row")} in ${Math.round(answer.elapsed_ms)} ms${more}`);
    });
  });
}

function formatCell(value: unknown): string {
  if (value === null) return "NULL";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
