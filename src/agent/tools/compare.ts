// Several runs: only what differs, and where they part.

import { cut, fitLists } from "#agent/bound.ts";
import { byInterest, count, round, toMs, toSeconds } from "#agent/measures.ts";
import { defineTool } from "#agent/tool.ts";
import type { CompareAnswer } from "#api/contract/compare.ts";
import { Type } from "#api/contract/schema.ts";
import { largestOf, smallestOf } from "#base/extremes.ts";
import { given } from "#base/given.ts";

/** Medians of spans count as equal if they differ by less than this share. */
const spanChange = 0.1;

export const compareRuns = defineTool(
  {
    name: "compare_runs",
    title: "Compare runs",
    scope: "read",
    description:
      "Only what differs between runs: parameters, environment, source, metrics, span times, and the first step at which " +
      "each leaves the first run's loss beyond its noise. Element i of a list of values belongs to run i.",
  },
  {
    runs: Type.Array(Type.String({ minLength: 1 }), { minItems: 2, maxItems: 10, uniqueItems: true }),
    metrics: Type.Optional(
      Type.Array(Type.String(), {
        maxItems: 16,
        description: "Metrics in which to look for the divergence; default: losses.",
      }),
    ),
  },
  async (api, { runs, metrics }) => {
    const answer = await api.call("compare", { query: { run: runs, ...given({ key: metrics }) } });
    const parting = answer.divergence
      .flatMap(({ step, ts_ns: _, ...row }) => (step === null ? [] : [{ ...row, step: Number(step) }]))
      .sort((a, b) => a.step - b.step);
    const [first] = parting;
    const params = toTexts(answer.params);
    return {
      text:
        `${count(params.length, "parameter")} differ${params.length === 1 ? "s" : ""}; ` +
        (first === undefined
          ? "no loss parts beyond its noise."
          : `${first.key} of ${first.run} parts at step ${first.step}.`),
      data: fitLists({
        runs: answer.runs.map(({ id, name, status, duration_ns }) => ({
          id,
          name,
          status,
          duration_s: toSeconds(duration_ns),
        })),
        ...given({ missing: answer.missing.length === 0 ? undefined : answer.missing }),
        first_diverging_step: first?.step ?? null,
        divergence: parting,
        params,
        metrics: toMetrics(answer.metrics),
        spans: toSpans(answer.spans),
        source: toTexts(answer.source),
        env: toTexts(answer.env),
      }),
    };
  },
);

function toTexts(rows: CompareAnswer["params"]) {
  return rows
    .filter(({ differs }) => differs)
    .map(({ name, values }) => ({ name, values: values.map((value) => (value === null ? null : cut(value, 120))) }));
}

function toMetrics(rows: CompareAnswer["metrics"]) {
  const differing = rows.filter(({ last, min, max }) => [last, min, max].some((values) => new Set(values).size > 1));
  return byInterest(differing).map(({ key, phase, last, min, max, nonfinite }) => ({
    ...given({ key, phase: phase || undefined }),
    last: last.map(round),
    min: min.map(round),
    max: max.map(round),
    ...(nonfinite.some((number) => number > 0) ? { nonfinite } : {}),
  }));
}

function toSpans(rows: CompareAnswer["spans"]) {
  return rows
    .map(({ name, p50_ns, count: counts }) => ({ name, p50_ms: p50_ns.map(toMs), count: counts }))
    .filter(({ p50_ms, count: counts }) => isApart(p50_ms) || counts.includes(null));
}

function isApart(values: readonly (number | null)[]): boolean {
  const known = values.filter((value) => value !== null);
  const longest = largestOf(known);
  return longest - smallestOf(known) > spanChange * longest;
}
