// tributary tail: a run as it happens.

import type { Command } from "commander";
import type { LiveEvent } from "#api/contract/live.ts";
import type { Run } from "#api/contract/run.ts";
import type { Client } from "#cli/client.ts";
import { askServer, type ConnectOptions } from "#cli/connect.ts";
import { type Context, paint } from "#cli/context.ts";
import { Exit, exitCodes } from "#cli/exit.ts";
import { formatNumber } from "#cli/format.ts";
import { collect } from "#cli/options.ts";
import { keepSign, paintStatus, printLine } from "#cli/print.ts";
import { toPlainText } from "#cli/table.ts";
import { followRun } from "#cli/tail/follow-run.ts";
import { createBar } from "#cli/tail/progress.ts";
import { createTally } from "#cli/tail/tally.ts";

interface TailOptions extends ConnectOptions {
  readonly metric?: string[];
  readonly logs: boolean;
}

/** Scripts that continue after `tail` rely on a run that succeeded. */
const bad = new Set(["failed", "killed", "lost"]);

export function addTail(program: Command, context: Context): void {
  const command = program
    .command("tail")
    .summary("follow a run")
    .description(
      "Follows a run's metrics, logs and status until it ends. Exits 1 when it failed, was stopped or got lost; 0 also " +
        "when nobody knows how it ended.",
    )
    .argument("<run>", "id or alias")
    .option("--metric <key>", "only these metrics (may be repeated)", collect)
    .option("--no-logs", "without log lines")
    .addHelpText("after", "\nExample:\n  tributary tail my-run --metric loss\n");
  askServer(context, command, async (client, options: TailOptions, id: string) => {
    const run = await client.call("run", { params: { id } });
    const last = options.json ? await tailJson(context, client, run) : await tailText(context, client, run, options);
    if (bad.has(last.status)) throw new Exit(exitCodes.negative, "");
  });
}

async function tailJson(context: Context, client: Client, run: Run): Promise<Run> {
  const write = (event: unknown) => context.stdout.write(`${JSON.stringify(event, keepSign)}\n`);
  const last = await followRun(client, run, context.stop, { take: write, know() {}, away: () => tellAway(context) });
  // The stream names runs that changed; how this one ended is only in an answer.
  const { id, name, status } = last;
  write({ name: "run", id: last.as_of, data: { id, name, status, first: false } } satisfies LiveEvent<"run">);
  return last;
}

async function tailText(context: Context, client: Client, run: Run, options: TailOptions): Promise<Run> {
  const bar = createBar(context);
  const tally = createTally(run);
  const print = (line: string) => {
    if (bar) bar.aside(() => printLine(context, line));
    else printLine(context, line);
  };
  let { status } = run;
  const know = (now: Run) => {
    if (now.status !== status) print(`${paintStatus(context, now.status)} ${toPlainText(now.error)}`.trimEnd());
    status = now.status;
    bar?.update(now);
  };
  print(`${run.name} ${paintStatus(context, status)}`);
  bar?.update(run);
  try {
    const last = await followRun(client, run, context.stop, {
      take(event) {
        tally.take(event);
        for (const line of formatEvent(context, event, options)) print(line);
      },
      know,
      away: () => tellAway(context),
    });
    know(last);
    const missed = tally.missed(last);
    if (missed !== "") print(missed);
    return last;
  } finally {
    bar?.stop();
  }
}

function tellAway({ stderr }: Context): void {
  stderr.write("The server is away; waiting for it.\n");
}

function formatEvent(context: Context, event: LiveEvent, options: TailOptions): string[] {
  const dim = (text: string) => paint(context.stdout, context.env, "dim", text);
  switch (event.name) {
    case "metrics": {
      const { key, phase, step, value } = event.data;
      return key.flatMap((name, at) => {
        if (options.metric && !options.metric.includes(name)) return [];
        const label = phase[at] === "" ? name : `${name} (${phase[at]})`;
        return [`${dim(`step ${step[at] ?? "–"}`)}  ${toPlainText(label)} ${formatNumber(value[at])}`];
      });
    }
    case "logs":
      if (!options.logs) return [];
      return event.data.logs.map(({ level, msg }) => `${dim(level.padEnd(5))} ${toPlainText(msg)}`);
    case "command":
      return [`command ${event.data.command.type} ${event.data.command.state}`];
    case "skipped":
      return [dim(`… points and lines may be missing here: ${event.data.reason}`)];
    case "gone":
      return ["The run was deleted."];
    default:
      return [];
  }
}
