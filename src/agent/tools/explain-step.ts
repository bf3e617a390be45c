// One step of a training: what was measured there, what took long, what was said, which tensors are not well.

import type { AgentApi } from "#agent/agent-api.ts";
import { cut, fitLists, rowsMax } from "#agent/bound.ts";
import { byInterest, count, median, readTime, round, toMs, toTime } from "#agent/measures.ts";
import { ToolMistake } from "#agent/mistake.ts";
import { defineTool, runInput, windowInput } from "#agent/tool.ts";
import { Type } from "#api/contract/schema.ts";
import type { Series } from "#api/contract/series.ts";
import type { SpanSummaryRow } from "#api/contract/span.ts";
import { largestOf, smallestOf } from "#base/extremes.ts";

/** What SDKs call the span of a step; its index is the number. */
const stepSpan = "step";

/** Steps to each side that say what is usual there. */
const around = 50;

export const explainStep = defineTool(
  {
    name: "explain_step",
    title: "Explain a step",
    scope: "read",
    description:
      "What happened at one step, given by number or time: metrics there, before, after and their usual value, spans of " +
      "the step against their median in the run, log lines, and tensors that are not well.",
  },
  { run: runInput, step: Type.Optional(Type.Integer()), time: windowInput.from },
  async (api, { run: id, step, time }) => {
    const asked = step ?? (await findStep(api, id, time));
    const { metrics } = await api.call("metrics", { params: { id } });
    const keys = [...new Set(byInterest(metrics).map(({ key }) => key))].slice(0, rowsMax);
    if (keys.length === 0)
      throw new ToolMistake("This run has no metrics, so no steps. time_breakdown takes a window.");
    const { series } = await api.call("series", {
      body: {
        runs: [id],
        keys,
        axis: "step",
        buckets: 2 * around + 1,
        from: String(asked - around),
        to: String(asked + around),
      },
    });
    const near = toWindow(series, asked);
    if (near === null) throw new ToolMistake(`This run has no points near step ${asked}: ${describeSteps(metrics)}.`);
    const window = (await findSpan(api, id, asked, near)) ?? near;
    const found = await readWindow(api, id, window);
    const rows = series.map((one) => toMetric(one, asked));
    const slow = found.spans.find(({ times_usual }) => times_usual !== null && times_usual >= 1.5);
    return {
      text:
        `Step ${asked}: ${count(rows.length, "metric")}, ${count(found.logs.length, "log line")}` +
        `${slow === undefined ? "" : `, ${slow.name} took ${slow.times_usual} times as long as usual`}.`,
      data: fitLists({ step: asked, from: toTime(window.from_ns), to: toTime(window.to_ns), metrics: rows, ...found }),
    };
  },
);

/** The last step that had begun at a time. */
async function findStep(api: AgentApi, id: string, time: string | undefined): Promise<number> {
  const to_ns = readTime(time, "time");
  if (to_ns === undefined) throw new ToolMistake("Give a step or a time.");
  const { metrics } = await api.call("metrics", { params: { id } });
  const [metric] = byInterest(metrics.filter(({ last_step }) => last_step !== null));
  if (metric === undefined) throw new ToolMistake("The points of this run have no steps.");
  const { series } = await api.call("metric", {
    params: { id, key: metric.key },
    query: { axis: "step", buckets: 1, to_ns },
  });
  const [found] = series.filter(({ x_last }) => x_last.length > 0);
  if (found === undefined) throw new ToolMistake(`This run has no points before ${time}.`);
  return Number(found.x_base) + (found.x_last.at(-1) as number);
}

function describeSteps(
  metrics: readonly { readonly first_step: string | null; readonly last_step: string | null }[],
): string {
  const steps = metrics
    .flatMap(({ first_step, last_step }) => [first_step, last_step])
    .flatMap((step) => (step === null ? [] : [Number(step)]));
  return steps.length === 0 ? "its points have no steps" : `its steps are ${smallestOf(steps)} to ${largestOf(steps)}`;
}

interface Window {
  readonly from_ns: string;
  readonly to_ns: string;
}

/** From the last points before the step to its own: a step's points are sent when it ends. */
function toWindow(series: readonly Series[], step: number): Window | null {
  let before: bigint | null = null;
  let until: bigint | null = null;
  for (const { x_base, x, t_base, t, t_last } of series) {
    for (const [at, offset] of x.entries()) {
      const position = Number(x_base) + offset;
      const end = BigInt(t_base) + BigInt(Math.round(t_last[at] as number));
      if (position < step && (before === null || end > before)) before = end;
      if (position === step && (until === null || end > until)) until = end;
      // A step without points of its own ends where the next one has some.
      if (position > step && until === null) until = BigInt(t_base) + BigInt(Math.round(t[at] as number));
    }
  }
  const to = until ?? before;
  if (to === null) return null;
  const from = before === null || before >= to ? to - 1n : before;
  return { from_ns: from.toString(), to_ns: (to + 1n).toString() };
}

/**
 * From the start of the spans that are the step, one of each rank, to their end or to the step's own points, whichever is
 * later: points may be sent in the middle of a step or after it.
 */
async function findSpan(api: AgentApi, id: string, step: number, near: Window): Promise<Window | null> {
  const query = { ...near, name: stepSpan, width: 1000 };
  const { base_ns, spans } = await api.call("spans", { params: { id }, query }).catch((error: unknown) => {
    if (api.explain(error)?.code === "timeline_too_large")
      return { base_ns: "0", spans: { index: [], start: [], end: [] } };
    throw error;
  });
  const own = spans.index.flatMap((index, at) => (index === String(step) ? [at] : []));
  if (own.length === 0) return null;
  const place = (offset: number) => BigInt(base_ns) + BigInt(Math.round(offset));
  const until = place(largestOf(own.map((at) => spans.end[at] as number)) + 1);
  return {
    from_ns: place(smallestOf(own.map((at) => spans.start[at] as number))).toString(),
    to_ns: until > BigInt(near.to_ns) ? until.toString() : near.to_ns,
  };
}

function toMetric({ key, phase, x_base, x, last, nan, pos_inf, neg_inf }: Series, step: number) {
  const places = x.map((offset) => Number(x_base) + offset);
  const own = places.lastIndexOf(step);
  const before = places.findLastIndex((place) => place < step);
  const after = places.findIndex((place) => place > step);
  const valueAt = (at: number) => (at < 0 ? null : { step: places[at], value: round(last[at] ?? null) });
  const finite = last.filter((value): value is number => typeof value === "number");
  return {
    key,
    ...(phase === "" ? {} : { phase }),
    value: own < 0 ? null : round(last[own] ?? null),
    before: valueAt(before),
    after: valueAt(after),
    usual: round(median(finite)),
    nonfinite_near: x.reduce((sum, _, at) => sum + (nan[at] ?? 0) + (pos_inf[at] ?? 0) + (neg_inf[at] ?? 0), 0),
  };
}

async function readWindow(api: AgentApi, id: string, window: Window) {
  const params = { id };
  const [inStep, inRun, { logs }, { tensors }] = await Promise.all([
    api.call("spanSummary", { params, query: window }),
    api.call("spanSummary", { params }),
    api.call("logs", { params, query: { ...window, limit: rowsMax, chars: 300 } }),
    api.call("snapshots", { params, query: window }),
  ]);
  const usual = new Map(inRun.rows.map((row) => [row.name, row]));
  return {
    spans: inStep.rows
      .map((row) => toSpan(row, usual.get(row.name)))
      .toSorted((a, b) => (b.excess_ms ?? 0) - (a.excess_ms ?? 0)),
    logs: logs.map(({ ts_ns, level, worker, msg }) => ({ time: toTime(ts_ns), level, worker, msg: cut(msg) })),
    tensors: tensors.filter(({ hints }) => hints.length > 0).map(({ tensor, hints }) => ({ tensor, hints })),
  };
}

/** The step's longest against the median of all: one that took long stands out even among many. */
function toSpan(row: SpanSummaryRow, run: SpanSummaryRow | undefined) {
  const usualMs = toMs(run?.p50_ns ?? null);
  const longestMs = toMs(row.max_ns);
  const known = usualMs !== null && longestMs !== null && usualMs > 0;
  return {
    name: row.name,
    count: row.count,
    wall_ms: toMs(row.wall_ns),
    longest_ms: longestMs,
    usual_ms: usualMs,
    times_usual: known ? Number((longestMs / usualMs).toPrecision(3)) : null,
    excess_ms: known ? round(longestMs - usualMs) : null,
  };
}
