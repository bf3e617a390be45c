// tributary tail: a run as it happens.

import { setTimeout as sleep } from "node:timers/promises";
import { SingleBar } from "cli-progress";
import type { Command } from "commander";
import type { LiveEvent } from "#api/contract/live.ts";
import type { Run } from "#api/contract/run.ts";
import { readEvents } from "#api/server-events.ts";
import { isAway } from "#cli/away.ts";
import { ApiError, type Client } from "#cli/client.ts";
import { askServer, type ConnectOptions } from "#cli/connect.ts";
import { type Context, paint } from "#cli/context.ts";
import { Exit, exitCodes } from "#cli/exit.ts";
import { formatNumber } from "#cli/format.ts";
import { collect } from "#cli/options.ts";
import { keepSign, paintStatus, printLine } from "#cli/print.ts";
import { toPlainText } from "#cli/table.ts";

interface TailOptions extends ConnectOptions {
  readonly metric?: string[];
  readonly logs: boolean;
}

const lookMs = 5000;
const awayMs = 1000;
const ended = new Set(["completed", "failed", "killed", "lost", "unknown"]);

export function addTail(program: Command, context: Context): void {
  const command = program
    .command("tail")
    .summary("follow a run")
    .description("Follows a run's metrics, logs and status until it ends. Exits 1 when it failed.")
    .argument("<run>", "id or alias")
    .option("--metric <key>", "only these metrics (may be repeated)", collect)
    .option("--no-logs", "without log lines")
    .addHelpText("after", "\nExample:\n  tributary tail my-run --metric loss\n");
  askServer(context, command, async (client, options: TailOptions, id: string) => {
    const run = await client.call("run", { params: { id } });
    const last = await follow(context, client, run, options);
    if (last === "failed" || last === "killed") throw new Exit(exitCodes.negative, "");
  });
}

/** Follows until the run ends or the person does; returns its last known status. */
async function follow(context: Context, client: Client, run: Run, options: TailOptions): Promise<string> {
  const bar = options.json ? undefined : createBar(context);
  let { status } = run;
  const show = (now: Run) => {
    if (now.status !== status) print(context, bar, `${paintStatus(context, now.status)} ${now.error}`);
    status = now.status;
    bar?.update(now);
  };
  const look = async () => show(await client.call("run", { params: { id: run.id } }));
  const take = async (event: LiveEvent) => {
    if (options.json) context.stdout.write(`${JSON.stringify(event, keepSign)}\n`);
    else for (const line of formatEvent(context, event, options)) print(context, bar, line);
    if (event.name === "run" || event.name === "changed" || event.name === "gone") await look();
  };
  if (!options.json) print(context, bar, `${run.name} ${paintStatus(context, status)}`);
  bar?.update(run);
  const isOver = async () => {
    await look();
    return ended.has(status);
  };
  // What was answered says up to where it knows; the stream goes on from exactly there.
  let after = run.as_of;
  let isTold = false;
  try {
    do {
      try {
        for await (const event of readWhile(context, client, run.id, after, isOver)) {
          if (ended.has(status) && event.name !== "hello") continue;
          if (event.id !== "") after = event.id;
          isTold = false;
          await take(event);
          if (ended.has(status)) break;
        }
        if (!ended.has(status)) await look();
      } catch (error) {
        if (!isAway(error)) throw error;
        if (!isTold) context.stderr.write("The server is away; waiting for it.\n");
        isTold = true;
        await sleep(awayMs, undefined, { signal: context.stop });
      }
    } while (!ended.has(status));
  } catch (error) {
    if (!context.stop.aborted) throw error;
  } finally {
    bar?.stop();
  }
  return status;
}

/** The events, until the stream ends or `isOver` says so: no event tells that a run has been silent for too long. */
async function* readWhile(
  context: Context,
  client: Client,
  runId: string,
  after: string,
  isOver: () => Promise<boolean>,
): AsyncGenerator<LiveEvent> {
  const over = new AbortController();
  const signal = AbortSignal.any([context.stop, over.signal]);
  const timer = setInterval(() => {
    // A server that is away ends the stream, too.
    isOver().then(
      (is) => is && over.abort(),
      () => undefined,
    );
  }, lookMs);
  try {
    yield* readEvents(await client.open("live", { query: { run: [runId], after } }, { signal }));
  } catch (error) {
    context.stop.throwIfAborted();
    // The rest is a connection that broke.
    if (error instanceof ApiError || error instanceof Exit) throw error;
  } finally {
    clearInterval(timer);
    over.abort();
  }
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
      return [dim(`… some events were skipped: ${event.data.reason}`)];
    case "gone":
      return ["The run was deleted."];
    default:
      return [];
  }
}

interface Bar {
  update(run: Run): void;
  /** Takes the bar off the screen while a line is printed. */
  aside(write: () => void): void;
  stop(): void;
}

function print(context: Context, bar: Bar | undefined, line: string): void {
  if (bar) bar.aside(() => printLine(context, line));
  else printLine(context, line);
}

function createBar(context: Context): Bar | undefined {
  if (context.stderr.isTTY !== true || context.stdout.isTTY !== true) return undefined;
  const stream = context.stderr as unknown as NodeJS.WritableStream;
  const bar = new SingleBar({ format: "{bar} {percentage}% {message}", stream, clearOnComplete: true });
  let started = false;
  return {
    update({ progress }) {
      if (progress === null || typeof progress.current !== "number" || typeof progress.total !== "number") return;
      const fields = { message: toPlainText(progress.message) };
      if (!started) bar.start(progress.total, progress.current, fields);
      else bar.update(progress.current, fields);
      started = true;
    },
    aside(write) {
      if (started) context.stderr.write("\r\u001b[K");
      write();
    },
    stop: () => bar.stop(),
  };
}
