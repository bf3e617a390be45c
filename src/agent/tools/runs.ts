// Which runs there are, and what one of them is.

import { cut, fitLists, fitPage, rowsMax } from "#agent/bound.ts";
import { byInterest, count, round, toSeconds, toTime } from "#agent/measures.ts";
import { defineTool, pageInput, runInput } from "#agent/tool.ts";
import type { Run, RunSummary } from "#api/contract/run.ts";
import { Type } from "#api/contract/schema.ts";
import type { MetricInfo } from "#api/contract/series.ts";
import { given } from "#base/given.ts";

export const listRuns = defineTool(
  {
    name: "list_runs",
    title: "List runs",
    scope: "read",
    description:
      "Runs, the newest first. The filter is a text such as `status:failed AND params.lr<0.01 AND " +
      "metrics.val_loss.last<2 AND start>-2h`; a bare word matches name, id, experiment and tags. Columns are fields " +
      "such as params.lr or metrics.loss.last (also first, min, max, count, nonfinite).",
  },
  {
    filter: Type.Optional(Type.String({ maxLength: 4096 })),
    sort: Type.Optional(
      Type.Array(Type.String({ description: "A field, with - in front for descending." }), { maxItems: 4 }),
    ),
    columns: Type.Optional(Type.Array(Type.String(), { maxItems: 16, description: "More fields to show." })),
    ...pageInput,
  },
  async (api, { limit = rowsMax, cursor, ...asked }) => {
    let total = 0;
    const { rows, next } = await fitPage(limit, async (rowsAsked) => {
      const page = await api.call("runs", { query: { ...given({ ...asked, cursor }), limit: rowsAsked } });
      total = page.total;
      return { rows: page.runs.map(toRow), next: page.next };
    });
    const more = next === null ? "" : "; ask again with cursor = next for more";
    return { text: `${rows.length} of ${count(total, "run")}${more}.`, data: { runs: rows, total, next } };
  },
);

function toRow(run: RunSummary) {
  return given({
    id: run.id,
    name: run.name === run.id ? undefined : run.name,
    status: run.status,
    experiment: run.experiment || undefined,
    start: toTime(run.start_ns) ?? undefined,
    duration_s: toSeconds(run.duration_ns) ?? undefined,
    progress: run.progress ?? undefined,
    tags: run.tags.length === 0 ? undefined : run.tags.slice(0, 10),
    error: run.error === "" ? undefined : cut(run.error),
    trouble: toTrouble(run),
    values: Object.keys(run.cells).length === 0 ? undefined : toValues(run.cells),
  });
}

function toValues(cells: RunSummary["cells"]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(cells).map(([field, { text, num }]) => [field, num ?? cut(text, 120)]));
}

/** Only what is not as it should be. */
function toTrouble({ integrity }: RunSummary): Record<string, number> | undefined {
  const { duplicates: _, ...counts } = integrity;
  const bad = Object.entries(counts).filter(([, number]) => number > 0);
  return bad.length === 0 ? undefined : Object.fromEntries(bad);
}

export const describeRun = defineTool(
  {
    name: "describe_run",
    title: "Describe a run",
    scope: "read",
    description:
      "One run as a whole: status, progress, verdicts (what is wrong or bounds it, with evidence and the next thing to " +
      "try), error, parameters, metrics with last and extremes, workers. Its cursor is where watch_run goes on.",
  },
  { run: runInput },
  async (api, { run: id }) => {
    const params = { id };
    const [run, { verdicts }, { metrics }, { accepting }] = await Promise.all([
      api.call("run", { params }),
      api.call("verdicts", { params }),
      api.call("metrics", { params }),
      api.call("commands", { params }),
    ]);
    const judged = verdicts[0] === undefined ? "no verdict" : verdicts[0].text;
    return {
      text: `${run.name} is ${run.status}: ${judged}`,
      data: fitLists({
        ...toHead(run),
        verdicts: verdicts.map(({ at, view: _, ...verdict }) => ({ ...verdict, step: at?.step ?? null })),
        params: Object.entries(run.params).map(([name, value]) => ({ name, value: cut(value, 120) })),
        metrics: byInterest(metrics).map(toMetric),
        workers: run.worker_list.map(({ worker, status, connected, last_ns, host }) => {
          return { worker, status, connected, host, last: toTime(last_ns) };
        }),
        takes_commands: accepting,
      }),
    };
  },
);

function toHead(run: Run): Record<string, unknown> {
  const { error_detail: error, best_checkpoint: best } = run;
  return {
    ...toRow(run),
    name: run.name,
    protocols: run.protocols,
    last_sign_of_life: toTime(run.updated_ns),
    notes: cut(run.notes, 1000) || undefined,
    notes_on_data: run.notes_on_data,
    counts: Object.fromEntries(Object.entries(run.counts).filter(([, number]) => number > 0)),
    // The end of a traceback says what happened.
    error:
      error === null
        ? undefined
        : { ...error, message: cut(error.message, 1000), traceback: error.traceback.slice(-1500) },
    best_checkpoint: best === null ? undefined : { step: best.step, path: cut(best.path), key: best.best_key },
    cursor: run.as_of,
  };
}

function toMetric({ key, phase, count: points, first, last, min, max, last_step, ...metric }: MetricInfo) {
  const nonfinite = metric.nan + metric.pos_inf + metric.neg_inf;
  return {
    ...given({
      key,
      phase: phase || undefined,
      points,
      first: round(first),
      last: round(last),
      min: round(min),
      max: round(max),
    }),
    ...given({ last_step: last_step ?? undefined, nonfinite: nonfinite || undefined }),
  };
}
