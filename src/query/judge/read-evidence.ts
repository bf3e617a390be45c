// Gathers the evidence on a run.

import type { EvidenceSeries, MissingRecords, RankWindow, RunEvidence, SpanTime, Timings } from "#judge/evidence.ts";
import type { Finding } from "#judge/finding.ts";
import { judgeRun } from "#judge/judge-run.ts";
import {
  dataSpans,
  isDataTime,
  isGpuUse,
  isLearningRate,
  isLoss,
  isStepTime,
  stepSpan,
  waitSpans,
} from "#judge/names.ts";
import { type FoundRun, groupKeysOf } from "#query/runs/find-run.ts";
import { wholeSeries } from "#query/series/request.ts";
import { readSeries, type Series } from "#query/series/series.ts";
import type { Sources } from "#query/sources.ts";
import { readSequences } from "#query/xtrack/sequences.ts";
import { readParamCells } from "#store/reader/cells.ts";
import * as reader from "#store/reader/evidence.ts";
import { readMetrics } from "#store/reader/metrics.ts";
import { readFaultCodes } from "#store/reader/records.ts";
import { readSpanSummary } from "#store/reader/span-summary.ts";

type Metric = Awaited<ReturnType<typeof readMetrics>>[number];

const lossesMax = 4;
/** As many points as a judgement needs; a longer series is reduced to means. */
const pointsMax = 2000;
const windowsUsual = 20;
const everyFault = { codes: [], protocol: "", fromNs: null, toNs: null, after: null, limit: 0 };

/** What is wrong with a run or limits its speed, in sentences. */
export async function judgeStoredRun(sources: Sources, workspace: string, run: FoundRun): Promise<Finding[]> {
  return judgeRun(await readEvidence(sources, workspace, run));
}

export async function readEvidence(sources: Sources, workspace: string, run: FoundRun): Promise<RunEvidence> {
  const { store } = sources;
  const groups = groupKeysOf(run);
  const metrics = await readMetrics(store, run.groups);
  const lossKeys = chooseKeys(metrics, isLoss, lossesMax);
  const rateKeys = chooseKeys(metrics, isLearningRate, 1);
  const [params, nonfinite, series, tensor, times, timings, windows, gpuUse, sequences, faults] = await Promise.all([
    readParamCells(store, { workspace, groupKeys: groups }, null),
    readNonfinite(sources, groups, metrics),
    readAll(sources, run, [...lossKeys, ...rateKeys]),
    readFirstBadTensor(sources, groups),
    readTimes(sources, groups),
    readTimings(sources, groups, metrics),
    readWindows(sources, groups, metrics),
    readGpuUse(sources, groups, metrics),
    readSequences(sources, groups),
    readFaultCodes(store, { workspace, groups, ...everyFault }),
  ]);
  return {
    params: Object.fromEntries(params.map(({ name, value }) => [name, value])),
    nonfinite,
    losses: series.filter(({ key }) => lossKeys.includes(key)),
    learningRates: series.filter(({ key }) => rateKeys.includes(key)),
    firstBadTensor: tensor,
    ...times,
    timings,
    windows,
    gpuUse,
    missing: sequences.sequences.map(toMissing),
    faults: faults.values().reduce((sum, count) => sum + count, 0),
  };
}

/** The longest series first, so that a training loss goes before one of few validations. */
function chooseKeys(metrics: readonly Metric[], isWanted: (key: string) => boolean, max: number): string[] {
  const wanted = metrics.filter(({ key }) => isWanted(key)).toSorted((a, b) => b.count - a.count);
  return [...new Set(wanted.map(({ key }) => key))].slice(0, max);
}

async function readNonfinite({ store }: Sources, groups: readonly string[], metrics: readonly Metric[]) {
  if (metrics.every(({ nan, pos_inf, neg_inf }) => nan + pos_inf + neg_inf === 0)) return [];
  const rows = await reader.readNonfinite(store, groups);
  return Promise.all(
    rows.map(async ({ key, phase, points, nonfinite, first_step, first_ns, first_span, last_finite_ns }) => ({
      key,
      phase,
      count: points,
      nonfinite,
      first: {
        step: first_step ?? (first_span === "" ? null : await reader.readStepOfSpan(store, groups, first_span)),
        tsNs: first_ns,
      },
      lastFiniteNs: last_finite_ns,
    })),
  );
}

/** By step; by time for metrics without steps. */
async function readAll(sources: Sources, run: FoundRun, keys: readonly string[]): Promise<EvidenceSeries[]> {
  if (keys.length === 0) return [];
  const found = new Map<string, EvidenceSeries>();
  for (const axis of ["step", "time"] as const) {
    const request = { ...wholeSeries, groups: run.groups, keys, axis, buckets: pointsMax };
    for await (const series of readSeries(sources, request)) {
      const id = `${series.key}\n${series.phase}`;
      if (series.buckets.points > 0 && !found.has(id)) found.set(id, toEvidenceSeries(series, axis === "step"));
    }
  }
  return [...found.values()].sort((a, b) => b.values.length - a.values.length);
}

function toEvidenceSeries({ key, phase, buckets }: Series, hasSteps: boolean): EvidenceSeries {
  const { mean, x, t, xBase, tBase } = buckets;
  return {
    key,
    phase,
    values: Float64Array.from(mean, (value) => value ?? Number.NaN),
    places: (at) => ({
      step: hasSteps ? xBase + BigInt(Math.trunc(x[at] as number)) : null,
      tsNs: tBase + BigInt(Math.trunc(t[at] as number)),
    }),
  };
}

async function readFirstBadTensor(
  { store }: Sources,
  groups: readonly string[],
): Promise<RunEvidence["firstBadTensor"]> {
  const found = await reader.readFirstBadTensor(store, groups);
  if (found === null) return null;
  const { tensor, ts_ns, span_id } = found;
  return { tensor, tsNs: ts_ns, step: await reader.readStepOfSpan(store, groups, span_id) };
}

/** Of the rank that has the most steps: ranks do the same work side by side. */
async function readTimes({ store }: Sources, groups: readonly string[]): Promise<Pick<RunEvidence, "steps" | "spans">> {
  const [first] = await reader.readStepTimes(store, groups, stepSpan);
  const window = { groups, fromNs: null, toNs: null };
  if (first === undefined || first.cycle_ns === null) return { steps: null, spans: [] };
  const [rows, said] = await Promise.all([
    readSpanSummary(store, window, true),
    reader.readDataTimes(store, groups, first.rank, dataSpans),
  ]);
  const saidOf = new Map(said.map((row) => [row.name, row]));
  const spans = rows
    .filter(({ rank }) => rank === first.rank)
    .map(
      ({ name, count, wall_ns, p50_ns, gpu_ns, gpu_count }): SpanTime => ({
        name,
        count,
        wallNs: Math.max(Number(wall_ns), saidOf.get(name)?.total_ns ?? 0),
        medianNs: Math.max(Number(p50_ns), saidOf.get(name)?.median_ns ?? 0),
        gpuNs: gpu_count === 0 ? null : Number(gpu_ns),
      }),
    );
  const { steps: count, step_ns: stepNs, cycle_ns: cycleNs, total_ns: totalNs } = first;
  return { steps: { count, stepNs, cycleNs, totalNs }, spans };
}

async function readTimings(
  { store }: Sources,
  groups: readonly string[],
  metrics: readonly Metric[],
): Promise<Timings | null> {
  const [stepKey] = chooseKeys(metrics, isStepTime, 1);
  const [dataKey] = chooseKeys(metrics, isDataTime, 1);
  if (stepKey === undefined || dataKey === undefined) return null;
  const means = await reader.readMeans(store, groups, [stepKey, dataKey]);
  const step = means.find(({ key }) => key === stepKey);
  const data = means.find(({ key }) => key === dataKey);
  if (step === undefined || data === undefined || !(step.mean > 0)) return null;
  return { stepKey, dataKey, points: Math.min(step.points, data.points), dataShare: data.mean / step.mean };
}

async function readWindows(
  { store }: Sources,
  groups: readonly string[],
  metrics: readonly Metric[],
): Promise<RankWindow[]> {
  const spans = { step: stepSpan, waits: waitSpans, windows: windowsUsual };
  const stepTime = metrics.find(({ key, workers }) => isStepTime(key) && workers.length > 1);
  const rows =
    stepTime === undefined
      ? await reader.readRankWindows(store, groups, spans)
      : await reader.readMetricWindows(store, groups, stepTime.key, windowsUsual);
  const unit = stepTime === undefined ? 1 : unitNs(stepTime.key);
  return rows.map(({ mean, ...row }) => ({ ...row, meanNs: mean * unit }));
}

/** Seconds unless the name says otherwise. */
function unitNs(key: string): number {
  return /ms$/i.test(key) ? 1e6 : 1e9;
}

async function readGpuUse(
  { store }: Sources,
  groups: readonly string[],
  metrics: readonly Metric[],
): Promise<RunEvidence["gpuUse"]> {
  const keys = metrics.filter(({ key }) => isGpuUse(key)).map(({ key }) => key);
  if (keys.length === 0) return null;
  const means = await reader.readMeans(store, groups, keys);
  const samples = means.reduce((sum, { points }) => sum + points, 0);
  return { samples, meanPercent: means.reduce((sum, { mean, points }) => sum + mean * points, 0) / samples };
}

function toMissing({
  worker,
  missing,
  gaps,
}: Awaited<ReturnType<typeof readSequences>>["sequences"][number]): MissingRecords {
  const [first] = gaps;
  return {
    worker,
    missing: Number(missing),
    firstGap:
      first === undefined ? "" : first.fromSeq === first.toSeq ? `${first.fromSeq}` : `${first.fromSeq}–${first.toSeq}`,
  };
}
