// What changed in a run since the last look: waits until something does.

import type { AgentApi } from "#agent/agent-api.ts";
import { cut, fitLists, rowsMax } from "#agent/bound.ts";
import { count, round, toTime } from "#agent/measures.ts";
import { defineTool, runInput } from "#agent/tool.ts";
import type { LiveEvent } from "#api/contract/live.ts";
import { Type } from "#api/contract/schema.ts";
import { given } from "#base/given.ts";

/** Clients give up on a call after a minute. */
const waitSecondsMax = 50;
/** Events come in bursts: an answer with one point each would take a call for every point. */
const settleMs = 500;

export const watchRun = defineTool(
  {
    name: "watch_run",
    title: "Watch a run",
    scope: "read",
    description:
      "What changed in a run since a cursor: points by metric, log lines, commands, status. Waits up to wait_s seconds " +
      "until something happens. Without a cursor it answers at once with the one to begin from.",
  },
  {
    run: runInput,
    cursor: Type.Optional(
      Type.String({ maxLength: 4096, description: "From describe_run, or from the previous watch_run." }),
    ),
    wait_s: Type.Optional(Type.Integer({ minimum: 0, maximum: waitSecondsMax, description: "Default 20." })),
  },
  async (api, { run: id, cursor, wait_s = 20 }, signal) => {
    const before = await api.call("run", { params: { id } });
    if (cursor === undefined) {
      const data = { run: before.id, status: before.status, progress: before.progress, cursor: before.as_of };
      return { text: `${before.name} is ${before.status}; watch on with this cursor.`, data };
    }
    const news = await gather(api, before.id, cursor, wait_s * 1000, signal);
    if (news.isGone) return { text: `${before.name} was deleted.`, data: { run: before.id, deleted: true } };
    const now = await api.call("run", { params: { id: before.id } });
    const happened = news.changed ? describeNews(news) : `nothing new in ${wait_s} s`;
    return {
      text: `${now.name} is ${now.status}: ${happened}.`,
      data: fitLists({
        ...given({ run: now.id, status: now.status, progress: now.progress ?? undefined }),
        ...given({ error: now.error === "" ? undefined : cut(now.error), missed: news.missed }),
        metrics: [...news.metrics.values()],
        logs: news.logs,
        commands: news.commands,
        rows: Object.fromEntries(news.rows),
        cursor: news.cursor,
      }),
    };
  },
);

function describeNews({ metrics, logLines, rows }: News): string {
  const points = [...metrics.values()].reduce((sum, metric) => sum + metric.points, 0);
  const said = [
    ...(points === 0 ? [] : [count(points, "new point")]),
    ...(logLines === 0 ? [] : [count(logLines, "log line")]),
  ];
  return said.length > 0 ? said.join(", ") : `changes in ${[...rows.keys()].join(", ") || "its head"}`;
}

interface MetricNews {
  readonly key: string;
  readonly phase: string;
  points: number;
  last: unknown;
  last_step: string | null;
  nonfinite: number;
}

class News {
  readonly run: string;
  cursor: string;
  changed = false;
  isGone = false;
  missed: string | undefined;
  logLines = 0;
  logs: Record<string, unknown>[] = [];
  readonly commands: Record<string, unknown>[] = [];
  readonly metrics = new Map<string, MetricNews>();
  readonly rows = new Map<string, number>();

  constructor(run: string, cursor: string) {
    this.run = run;
    this.cursor = cursor;
  }

  add(event: LiveEvent): void {
    if (event.id !== "") this.cursor = event.id;
    switch (event.name) {
      case "changed":
        for (const [table, number] of Object.entries(event.data.rows))
          this.rows.set(table, (this.rows.get(table) ?? 0) + number);
        break;
      case "metrics":
        this.addPoints(event.data);
        break;
      case "logs":
        this.addLogs(event.data.logs);
        break;
      case "command":
        if (event.data.run !== this.run) return;
        this.commands.push({
          id: event.data.command.id,
          type: event.data.command.type,
          state: event.data.command.state,
        });
        break;
      case "gone":
        if (event.data.run !== this.run) return;
        this.isGone = true;
        break;
      case "skipped":
        this.missed = `${event.data.reason} describe_run says how the run stands.`;
        break;
      case "run":
        break;
      case "hello":
      case "stats":
        return;
    }
    this.changed = true;
  }

  private addPoints({ key, phase, step, value }: LiveEvent<"metrics">["data"]): void {
    for (const [at, name] of key.entries()) {
      const of = phase[at] ?? "";
      const id = `${name}\n${of}`;
      const metric = this.metrics.get(id) ?? {
        key: name,
        phase: of,
        points: 0,
        last: null,
        last_step: null,
        nonfinite: 0,
      };
      const point = value[at] ?? null;
      metric.points++;
      metric.last = round(point);
      metric.last_step = step[at] ?? metric.last_step;
      if (typeof point === "string") metric.nonfinite++;
      this.metrics.set(id, metric);
    }
  }

  private addLogs(logs: LiveEvent<"logs">["data"]["logs"]): void {
    this.logLines += logs.length;
    const rows = logs
      .slice(-rowsMax)
      .map(({ ts_ns, level, worker, msg }) => ({ time: toTime(ts_ns), level, worker, msg: cut(msg) }));
    this.logs = [...this.logs, ...rows].slice(-rowsMax);
  }
}

async function gather(api: AgentApi, run: string, cursor: string, waitMs: number, signal: AbortSignal): Promise<News> {
  const news = new News(run, cursor);
  const enough = new AbortController();
  let timer = setTimeout(() => enough.abort(), waitMs);
  let settling = false;
  try {
    for await (const event of api.follow(run, cursor, AbortSignal.any([signal, enough.signal]))) {
      news.add(event);
      if (news.isGone) break;
      if (!news.changed || settling) continue;
      settling = true;
      clearTimeout(timer);
      timer = setTimeout(() => enough.abort(), Math.min(settleMs, waitMs));
    }
  } catch (error) {
    // A stream that is no longer wanted ends with the reason for that.
    if (!enough.signal.aborted) throw error;
  } finally {
    clearTimeout(timer);
    enough.abort();
  }
  return news;
}
