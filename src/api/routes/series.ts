// Metrics of a run, and series of several runs.

import { type ApiContext, resolveRun, toBigInt } from "#api/context.ts";
import type { MetricsAnswer, SeriesBody } from "#api/contract/series.ts";
import { toExactJson } from "#api/exact-json.ts";
import { type Handler, JsonBody } from "#api/handler.ts";
import { Refusal } from "#api/refusal.ts";
import { findGroups, type RunGroup } from "#query/runs/find-run.ts";
import { encodeSeries } from "#query/series/format.ts";
import { listMetrics } from "#query/series/metrics.ts";
import { type RunSeriesRequest, readSeries } from "#query/series/series.ts";

const bucketsDefault = 1000;

export function metricsRoute(context: ApiContext): Handler<"metrics"> {
  return async (request) => {
    const asOf = context.asOf();
    const run = await resolveRun(context, request);
    return toExactJson<MetricsAnswer>({ metrics: await listMetrics(context.sources, run.groups), as_of: asOf });
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
    const found = await findGroups(context.sources, caller.workspace, ids);
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
  return new JsonBody(encodeAnswer(context, request, signal, asOf));
}

async function* encodeAnswer(
  { sources }: ApiContext,
  request: RunSeriesRequest,
  signal: AbortSignal,
  asOf: string,
): AsyncGenerator<Uint8Array> {
  let before = `{"axis":${JSON.stringify(request.axis)},"series":[`;
  for await (const series of readSeries(sources, request, signal)) {
    yield Buffer.from(before);
    yield* encodeSeries(series, request.byWorker);
    before = ",";
  }
  yield Buffer.from(`${before === "," ? "" : before}],"as_of":${JSON.stringify(asOf)}}`);
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
