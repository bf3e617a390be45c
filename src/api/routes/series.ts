// Metrics of a run, and series of several runs: bucketed by the store, passed on as it wrote them.

import { type ApiContext, resolveRun, toBigInt } from "#api/context.ts";
import type { MetricsAnswer, SeriesBody } from "#api/contract/series.ts";
import { toExactJson } from "#api/exact-json.ts";
import { type Handler, JsonBody } from "#api/handler.ts";
import type { RunGroup, RunSeriesRequest } from "#api/reads.ts";
import { Refusal } from "#api/refusal.ts";
import { joinLines } from "./lines.ts";

const bucketsDefault = 1000;

export function metricsRoute(context: ApiContext): Handler<"metrics"> {
  return async (request) => {
    const asOf = context.asOf();
    const run = await resolveRun(context, request);
    return toExactJson<MetricsAnswer>({ metrics: await context.reads.metrics(run.groups), as_of: asOf });
  };
}

export function metricRoute(context: ApiContext): Handler<"metric"> {
  return async (request) => {
    const asOf = context.asOf();
    const run = await resolveRun(context, request);
    return answer(context, toRequest(run.groups, [request.params.key], request.query), request.signal, asOf);
  };
}

export function seriesRoute(context: ApiContext): Handler<"series"> {
  return async ({ body, caller, signal }) => {
    const asOf = context.asOf();
    const ids = [...new Set(body.runs)];
    const found = await context.reads.groupsOfIds(caller.workspace, ids);
    const groups = ids.flatMap((id) => {
      const own = found.get(id) ?? [];
      if (own.length === 0) throw unknownRun(id);
      // The series is called as the caller called the run, which may be an alias.
      return own.map((group): RunGroup => ({ ...group, run: id }));
    });
    return answer(context, toRequest(groups, body.keys, body), signal, asOf);
  };
}

function answer(context: ApiContext, request: RunSeriesRequest, signal: AbortSignal, asOf: string): JsonBody {
  const rows = context.reads.series(request, signal);
  const before = `{"axis":${JSON.stringify(request.axis)},"series":[`;
  return new JsonBody(joinLines(before, rows, `],"as_of":${JSON.stringify(asOf)}}`));
}

type Options = Omit<SeriesBody, "runs" | "keys">;

function toRequest(groups: readonly RunGroup[], keys: readonly string[], options: Options): RunSeriesRequest {
  return {
    groups,
    keys,
    axis: options.axis ?? "step",
    buckets: options.buckets ?? bucketsDefault,
    byWorker: options.by === "worker",
    byPosition: options.by === "position",
    worker: options.worker ?? null,
    phase: options.phase ?? null,
    from: toBigInt(options.from),
    to: toBigInt(options.to),
    fromNs: toBigInt(options.from_ns),
    toNs: toBigInt(options.to_ns),
  };
}

function unknownRun(id: string): Refusal {
  return new Refusal("run_not_found", `There is no run with the id ${JSON.stringify(id)}.`, {
    at: { part: "body", name: "/runs" },
  });
}
