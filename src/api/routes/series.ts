// Metrics of a run, and series of several runs.

import { ofRun, type Route, toBigInt } from "#api/context.ts";
import type { MetricsAnswer, SeriesBody } from "#api/contract/series.ts";
import { encodeSeries } from "#api/encode-series.ts";
import { JsonBody, toExactJson } from "#api/handler.ts";
import { Refusal } from "#api/refusal.ts";
import { findSeries, type RunSeriesRequest, readMetrics, readSeries, type Series } from "#query/series/series.ts";

const bucketsDefault = 1000;
const axisDefault = "step";

export const metricsRoute: Route<"metrics"> = ofRun(async (context, { asOf, run }) => {
  return toExactJson<MetricsAnswer>({ metrics: await readMetrics(context.sources.store, run.groups), as_of: asOf });
});

export const metricRoute: Route<"metric"> = ofRun(async (context, { asOf, run, params, query, signal }) => {
  const asked = toRequest([params.key], query);
  const series = readSeries(context.sources, { ...asked, groups: run.groups }, signal);
  return new JsonBody(encodeAnswer(series, query, asOf));
});

export const seriesRoute: Route<"series"> = async (context, { body, caller, signal, asOf }) => {
  const ids = [...new Set(body.runs)];
  const request = toRequest(body.keys, body);
  const series = await findSeries(context.sources, caller.workspace, ids, request, signal);
  if ("unknownRun" in series) throw unknownRun(series.unknownRun);
  return new JsonBody(encodeAnswer(series, body, asOf));
};

async function* encodeAnswer(
  all: AsyncIterable<Series>,
  { axis = axisDefault, by, columns }: Options,
  asOf: string,
): AsyncGenerator<Uint8Array> {
  let before = `{"axis":${JSON.stringify(axis)},"series":[`;
  for await (const series of all) {
    yield Buffer.from(before);
    yield* encodeSeries(series, by === "worker", columns);
    before = ",";
  }
  yield Buffer.from(`${before === "," ? "" : before}],"as_of":${JSON.stringify(asOf)}}`);
}

type Options = Omit<SeriesBody, "runs" | "keys">;

function toRequest(keys: readonly string[], options: Options): Omit<RunSeriesRequest, "groups"> {
  return {
    keys,
    axis: options.axis ?? axisDefault,
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
