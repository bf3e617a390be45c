// GET /compare: several runs side by side.

import { type ApiContext, groupKeys } from "#api/context.ts";
import type { CompareAnswer } from "#api/contract/compare.ts";
import type { Run } from "#api/contract/run.ts";
import type { MetricInfo, Series } from "#api/contract/series.ts";
import type { Handler } from "#api/handler.ts";
import type { ResolvedRun, SpanSummaryRecord } from "#api/reads.ts";
import { Refusal } from "#api/refusal.ts";
import { findDivergence, type SteppedPoint } from "#query/compare/divergence.ts";
import { parseLines } from "./lines.ts";
import { readRun } from "./run.ts";

const divergenceBuckets = 2000;
const lossKeysMax = 4;

export function compareRoute(context: ApiContext): Handler<"compare"> {
  return async ({ query, caller, signal }): Promise<CompareAnswer> => {
    const asOf = context.asOf();
    const resolved = await Promise.all(query.run.map((id) => resolve(context, caller.workspace, id)));
    const runs = await Promise.all(resolved.map((run) => readRun(context, caller.workspace, run, asOf)));
    const metrics = await Promise.all(resolved.map((run) => context.reads.metrics(run.groups)));
    const spans = await Promise.all(
      resolved.map((run) =>
        context.reads.spanSummary({ groups: groupKeys(run), fromNs: null, toNs: null, byRank: false }),
      ),
    );
    const tensors = await Promise.all(
      resolved.map((run) => context.reads.tensors({ groups: groupKeys(run), fromNs: null, toNs: null }, null)),
    );
    const keys = query.key ?? lossKeys(metrics);
    return {
      runs,
      params: textRows(runs.map((run) => run.params)),
      env: textRows(runs.map((run) => quoteAll(run.env))),
      source: textRows(runs.map((run) => quoteAll(run.source))),
      metrics: metricRows(metrics),
      divergence: await divergences(context, resolved, keys, signal),
      spans: spanRows(spans),
      tensors: sharedNames(tensors.map((list) => list.map((tensor) => tensor.tensor))),
      as_of: asOf,
    };
  };
}

async function resolve(context: ApiContext, workspace: string, id: string): Promise<ResolvedRun> {
  const found = await context.reads.resolve(workspace, id);
  if (found !== null) return found;
  throw new Refusal("run_not_found", `There is no run with the id ${JSON.stringify(id)}.`, {
    at: { part: "query", name: "run" },
  });
}

function quoteAll(texts: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, JSON.stringify(text)]));
}

function textRows(sides: readonly Readonly<Run["params"]>[]): CompareAnswer["params"] {
  const names = [...new Set(sides.flatMap((side) => Object.keys(side)))].sort();
  return names.map((name) => {
    const values = sides.map((side) => side[name] ?? null);
    return { name, values, differs: new Set(values).size > 1 };
  });
}

function metricRows(sides: readonly (readonly MetricInfo[])[]): CompareAnswer["metrics"] {
  const series = new Map(
    sides.flatMap((side) => side.map(({ key, phase }) => [`${key}\n${phase}`, { key, phase }] as const)),
  );
  return [...series.values()].map(({ key, phase }) => {
    const found = sides.map((side) => side.find((metric) => metric.key === key && metric.phase === phase));
    return {
      key,
      phase,
      last: found.map((metric) => metric?.last ?? null),
      min: found.map((metric) => metric?.min ?? null),
      max: found.map((metric) => metric?.max ?? null),
      nonfinite: found.map((metric) => (metric === undefined ? 0 : metric.nan + metric.pos_inf + metric.neg_inf)),
    };
  });
}

function spanRows(sides: readonly (readonly SpanSummaryRecord[])[]): CompareAnswer["spans"] {
  const names = [...new Set(sides.flatMap((side) => side.map((row) => row.name)))];
  return names.map((name) => {
    const found = sides.map((side) => side.find((row) => row.name === name));
    return {
      name,
      count: found.map((row) => row?.count ?? null),
      wall_ns: found.map((row) => row?.wall_ns ?? null),
      gpu_ns: found.map((row) => (row === undefined || row.gpu_count === 0 ? null : row.gpu_ns)),
      p50_ns: found.map((row) => row?.p50_ns ?? null),
    };
  });
}

function sharedNames(sides: readonly (readonly string[])[]): string[] {
  const counts = new Map<string, number>();
  for (const side of sides) for (const name of new Set(side)) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].flatMap(([name, count]) => (count > 1 ? [name] : [])).sort();
}

/** The metrics that most runs share and that are called a loss. */
function lossKeys(sides: readonly (readonly MetricInfo[])[]): string[] {
  const keys = sides.flatMap((side) => [...new Set(side.map((metric) => metric.key))]);
  const counts = Map.groupBy(
    keys.filter((key) => /loss/i.test(key)),
    (key) => key,
  );
  return [...counts]
    .filter(([, found]) => found.length > 1)
    .sort(([, a], [, b]) => b.length - a.length)
    .slice(0, lossKeysMax)
    .map(([key]) => key);
}

async function divergences(
  context: ApiContext,
  runs: readonly ResolvedRun[],
  keys: readonly string[],
  signal: AbortSignal,
): Promise<CompareAnswer["divergence"]> {
  if (keys.length === 0 || runs.length < 2) return [];
  const window = { worker: null, phase: null, from: null, to: null, fromNs: null, toNs: null };
  const groups = runs.flatMap((run) => run.groups);
  const request = {
    groups,
    keys,
    axis: "step" as const,
    buckets: divergenceBuckets,
    byWorker: false,
    byPosition: false,
    ...window,
  };
  const all: Series[] = [];
  for await (const series of parseLines<Series>(context.reads.series(request, signal))) all.push(series);
  const [first, ...others] = runs as [ResolvedRun, ...ResolvedRun[]];
  return all
    .filter((series) => series.run === first.runId)
    .flatMap((reference) =>
      others.map(({ runId }) => {
        const { key, phase } = reference;
        const other = all.find((series) => series.run === runId && series.key === key && series.phase === phase);
        const found = other === undefined ? null : findDivergence(toPoints(reference), toPoints(other));
        return {
          key,
          phase,
          run: runId,
          step: found === null ? null : String(found.at.x),
          ts_ns:
            found === null || other === undefined
              ? null
              : (BigInt(other.t_base) + BigInt(Math.round(found.at.t))).toString(),
          reference: found === null ? null : toFloat(found.reference),
          value: found === null ? null : toFloat(found.at.value),
        };
      }),
    );
}

function toPoints(series: Series): SteppedPoint[] {
  const base = Number(series.x_base);
  return series.last.flatMap((value, at) =>
    value === null ? [] : [{ x: base + (series.x[at] as number), t: series.t[at] as number, value: Number(value) }],
  );
}

function toFloat(value: number): number | "NaN" | "Infinity" | "-Infinity" {
  return Number.isFinite(value) ? value : (String(value) as "NaN");
}
