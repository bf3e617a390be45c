// GET /compare: several runs side by side. What is read is read once for all of them.

import type { ApiContext, Route } from "#api/context.ts";
import type { CompareAnswer, ComparePart } from "#api/contract/compare.ts";
import type { Run } from "#api/contract/run.ts";
import { toExactJson } from "#api/handler.ts";
import { Refusal } from "#api/refusal.ts";
import * as compared from "#query/compare/read-compared.ts";
import { lossKeys, readDivergences } from "./compare-divergence.ts";
import { environmentOf, parseObject, toParams, toResource } from "./run-environment.ts";
import { toSummary } from "./runs.ts";

export const compareRoute: Route<"compare"> = async (context, { query, caller, signal, asOf }) => {
  const { sources } = context;
  const { workspace } = caller;
  const skipsTable = query.part?.length === 1 && query.part[0] === "metrics";
  const named = { workspace, ids: query.run, skipsTable };
  const { runs, missing } = await compared.findCompared(sources, named, context.head());
  if (runs.length === 0) throw unknownRuns(missing);
  const groups = runs.flatMap((run) => run.groups);
  const ids = runs.map(({ row }) => row.runId);
  const asked = (part: ComparePart): boolean => query.part === undefined || query.part.includes(part);
  const [texts, metrics, spans, tensors] = await Promise.all([
    asked("params") ? readTexts(context, workspace, runs) : { params: [], env: [], source: [] },
    asked("metrics") || asked("divergence") ? compared.readComparedMetrics(sources.store, groups) : [],
    asked("spans") ? compared.readComparedSpans(sources.store, groups) : [],
    asked("tensors") ? compared.readComparedTensors(sources.store, groups) : [],
  ]);
  return toExactJson<CompareAnswer>({
    runs: runs.map(({ row }) => toSummary({ row, cells: [] })),
    missing,
    ...texts,
    metrics: asked("metrics") ? await readMetricRows(context, workspace, runs, metrics) : [],
    divergence: asked("divergence")
      ? await readDivergences(sources, ids, groups, query.key ?? lossKeys(metrics), signal)
      : [],
    spans: spanRows(ids, spans),
    tensors: sharedTensors(ids, tensors),
    as_of: asOf,
  });
};

function unknownRuns(ids: readonly string[]): Refusal {
  const named = ids.map((id) => JSON.stringify(id)).join(" or ");
  return new Refusal("run_not_found", `There is no run with the id ${named}.`, { at: { part: "query", name: "run" } });
}

async function readTexts(
  { sources }: ApiContext,
  workspace: string,
  runs: readonly compared.ComparedRun[],
): Promise<Pick<CompareAnswer, "params" | "env" | "source">> {
  const texts = await compared.readComparedTexts(sources, workspace, runs);
  const environments = texts.map(({ start, session, params, groups }) =>
    environmentOf(parseObject(start), parseObject(session), toResource(params, groups)),
  );
  return {
    params: textRows(
      texts.map(({ params, groups }) =>
        toParams(
          params,
          groups.map(({ groupKey }) => groupKey),
        ),
      ),
    ),
    env: textRows(environments.map(({ env }) => quoteAll(env))),
    source: textRows(environments.map(({ source }) => quoteAll(source))),
  };
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

async function readMetricRows(
  { sources }: ApiContext,
  workspace: string,
  runs: readonly compared.ComparedRun[],
  metrics: readonly compared.ComparedMetric[],
): Promise<CompareAnswer["metrics"]> {
  const nonfinite = await compared.countNonfinitePoints(sources, workspace, runs, metrics);
  return [...Map.groupBy(metrics, ({ key, phase }) => `${key}\n${phase}`).values()].map((rows) => {
    const { key, phase } = rows[0] as compared.ComparedMetric;
    const byRun = new Map(rows.map((row) => [row.run, row]));
    const found = runs.map(({ row }) => byRun.get(row.runId));
    return {
      key,
      phase,
      last: found.map((metric) => metric?.last ?? null),
      min: found.map((metric) => metric?.min ?? null),
      max: found.map((metric) => metric?.max ?? null),
      nonfinite: runs.map(({ row }) => nonfinite.get(compared.nameOf(row.runId, key, phase)) ?? 0),
    };
  });
}

function spanRows(ids: readonly string[], spans: readonly compared.ComparedSpan[]): CompareAnswer["spans"] {
  return [...Map.groupBy(spans, (row) => row.name)].map(([name, rows]) => {
    const byRun = new Map(rows.map((row) => [row.run, row]));
    const found = ids.map((id) => byRun.get(id));
    return {
      name,
      count: found.map((row) => row?.count ?? null),
      wall_ns: found.map((row) => row?.wall_ns ?? null),
      gpu_ns: found.map((row) => row?.gpu_ns ?? null),
      p50_ns: found.map((row) => row?.p50_ns ?? null),
    };
  });
}

function sharedTensors(ids: readonly string[], rows: readonly compared.ComparedTensor[]): CompareAnswer["tensors"] {
  const shared = [...Map.groupBy(rows, ({ tensor }) => tensor)].filter(([, owners]) => owners.length > 1);
  return shared.map(([name, owners]) => {
    const having = new Set(owners.map(({ run }) => run));
    return { name, has: ids.map((id) => having.has(id)) };
  });
}
