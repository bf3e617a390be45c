// GET /compare: several runs side by side. What is read is read once for all of them.

import type { ComparedMetric, ComparedSpan, StartText } from "#api/compare-reads.ts";
import type { ApiContext } from "#api/context.ts";
import type { CompareAnswer, ComparePart } from "#api/contract/compare.ts";
import type { Run } from "#api/contract/run.ts";
import type { Handler } from "#api/handler.ts";
import type { RunGroup } from "#api/reads.ts";
import { Refusal } from "#api/refusal.ts";
import type { RunRow } from "#query/runs/row.ts";
import { lossKeys, readDivergences } from "./compare-divergence.ts";
import { toEnvironment, toParams } from "./run.ts";
import { toSummary } from "./runs.ts";

interface Side {
  readonly row: RunRow;
  readonly groups: readonly RunGroup[];
}

export function compareRoute(context: ApiContext): Handler<"compare"> {
  return async ({ query, caller, signal }): Promise<CompareAnswer> => {
    const asOf = context.asOf();
    const { workspace } = caller;
    const { sides, missing } = await readSides(context, workspace, query.run);
    const groups = sides.flatMap((side) => side.groups);
    const ids = sides.map(({ row }) => row.runId);
    const asked = (part: ComparePart): boolean => query.part === undefined || query.part.includes(part);
    const [texts, metrics, spans, tensors] = await Promise.all([
      asked("params") ? readTexts(context, workspace, sides) : { params: [], env: [], source: [] },
      asked("metrics") || asked("divergence") ? context.reads.compare.metrics(groups) : [],
      asked("spans") ? context.reads.compare.spans(groups) : [],
      asked("tensors") ? context.reads.compare.tensors(groups) : [],
    ]);
    return {
      runs: sides.map(({ row }) => toSummary({ row, cells: [] })),
      missing,
      ...texts,
      metrics: asked("metrics") ? await readMetricRows(context, workspace, sides, metrics) : [],
      divergence: asked("divergence")
        ? await readDivergences(context, ids, groups, query.key ?? lossKeys(metrics), signal)
        : [],
      spans: spanRows(ids, spans),
      tensors,
      as_of: asOf,
    };
  };
}

/** The runs in the order in which they were named, each once, and the ids that mean none. */
async function readSides(
  context: ApiContext,
  workspace: string,
  asked: readonly string[],
): Promise<{ sides: readonly Side[]; missing: string[] }> {
  const groupsOf = await context.reads.groupsOfIds(workspace, [...new Set(asked)]);
  const sides = await context.tables.ask(workspace, [], context.head(), (view) => {
    const found = new Map<string, Side>();
    for (const groups of groupsOf.values()) {
      const place = groups[0] === undefined ? undefined : view.placeOf(groups[0].run);
      if (place === undefined) continue;
      const row = view.rowAt(place);
      found.set(row.runId, { row, groups });
    }
    return [...found.values()];
  });
  const known = new Set(sides.map(({ row }) => row.runId));
  const missing = [...groupsOf].flatMap(([id, groups]) => (known.has(groups[0]?.run ?? "") ? [] : [id]));
  if (sides.length > 0) return { sides, missing };
  throw new Refusal(
    "run_not_found",
    `There is no run with the id ${missing.map((id) => JSON.stringify(id)).join(" or ")}.`,
    {
      at: { part: "query", name: "run" },
    },
  );
}

async function readTexts(
  context: ApiContext,
  workspace: string,
  sides: readonly Side[],
): Promise<Pick<CompareAnswer, "params" | "env" | "source">> {
  const groups = sides.flatMap((side) => side.groups);
  const [cells, texts] = await Promise.all([
    context.reads.paramCells(
      workspace,
      null,
      groups.map(({ groupKey }) => groupKey),
    ),
    context.reads.compare.startTexts(groups),
  ]);
  const cellsOf = Map.groupBy(cells, (cell) => cell.groupKey);
  const textOf = (run: string, type: StartText["type"]): string =>
    texts.find((text) => text.run === run && text.type === type)?.payload ?? "{}";
  const environments = sides.map(({ row }) =>
    toEnvironment(textOf(row.runId, "run_start"), textOf(row.runId, "cirron.session")),
  );
  return {
    params: textRows(
      sides.map((side) => {
        const keys = side.groups.map(({ groupKey }) => groupKey);
        return toParams(
          keys.flatMap((key) => cellsOf.get(key) ?? []),
          keys,
        );
      }),
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

/** Points that are not finite are counted only where a summary says that there are any, which is rare. */
async function readMetricRows(
  context: ApiContext,
  workspace: string,
  sides: readonly Side[],
  metrics: readonly ComparedMetric[],
): Promise<CompareAnswer["metrics"]> {
  const flagged = metrics.filter((metric) => metric.has_nonfinite === 1);
  const runs = new Set(flagged.map(({ run }) => run));
  const groups = sides.filter(({ row }) => runs.has(row.runId)).flatMap((side) => side.groups);
  const keys = [...new Set(flagged.map(({ key }) => key))];
  const runOf = new Map(groups.map(({ groupKey, run }) => [groupKey, run]));
  const counts = keys.length === 0 ? [] : await context.reads.metricCounts(workspace, keys, [...runOf.keys()]);
  const countOf = new Map<string, number>();
  for (const { groupKey, key, phase, nonfinite } of counts) {
    const name = JSON.stringify([runOf.get(groupKey), key, phase]);
    countOf.set(name, (countOf.get(name) ?? 0) + nonfinite);
  }
  return [...Map.groupBy(metrics, ({ key, phase }) => `${key}\n${phase}`).values()].map((rows) => {
    const { key, phase } = rows[0] as ComparedMetric;
    const byRun = new Map(rows.map((row) => [row.run, row]));
    const found = sides.map(({ row }) => byRun.get(row.runId));
    return {
      key,
      phase,
      last: found.map((metric) => metric?.last ?? null),
      min: found.map((metric) => metric?.min ?? null),
      max: found.map((metric) => metric?.max ?? null),
      nonfinite: sides.map(({ row }) => countOf.get(JSON.stringify([row.runId, key, phase])) ?? 0),
    };
  });
}

function spanRows(ids: readonly string[], spans: readonly ComparedSpan[]): CompareAnswer["spans"] {
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
