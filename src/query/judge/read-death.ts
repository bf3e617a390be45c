// What a run left behind when it died, and why it died.

import type { PostMortem } from "#api/contract/post-mortem.ts";
import type { MetricInfo } from "#api/contract/series.ts";
import type { CollectiveEntry, RankRecord } from "#judge/collectives.ts";
import { type DeathEvidence, judgeDeath, type WorkerReport } from "#judge/death.ts";
import { stepSpan } from "#judge/names.ts";
import { sayCount } from "#judge/words.ts";
import { type FoundRun, groupKeysOf } from "#query/runs/find-run.ts";
import { type HeadContext, toRunHead } from "#query/runs/head.ts";
import { endText, readRunDetail } from "#query/runs/run-detail.ts";
import type { Sources } from "#query/sources.ts";
import * as reader from "#store/reader/death.ts";
import { readMetrics } from "#store/reader/metrics.ts";

const linesMax = 400;
const metricsMax = 30;

export async function readPostMortem(
  sources: Sources,
  workspace: string,
  run: FoundRun,
  head: HeadContext,
): Promise<Omit<PostMortem, "as_of"> | null> {
  const { store } = sources;
  const groups = groupKeysOf(run);
  const [detail, lines, reports, signs, doing, open, metrics] = await Promise.all([
    readRunDetail(sources, workspace, run),
    reader.readLastLines(store, groups, linesMax),
    reader.readLeftReports(store, groups),
    reader.readLastSigns(store, groups, stepSpan),
    reader.readLastStatus(store, groups),
    readOpen(sources, groups),
    readMetrics(store, run.groups),
  ]);
  if (detail === null) return null;
  const { status, errorType, errorMessage, endNs } = toRunHead(detail.facts, head);
  const wrapper = detail.facts.wrappers.toSorted((a, b) => Number(a.startNs - b.startNs)).at(-1);
  const exit =
    wrapper === undefined || wrapper.endNs === null ? null : { code: wrapper.exitCode, signal: wrapper.signal };
  const { lines: told, ...death } = judgeDeath({
    status,
    exit,
    error: toError(errorType, errorMessage, endText(detail.facts, detail.stateEvents)),
    lines: lines.map(({ ts_ns: tsNs, msg: text, ...line }) => ({ ...line, tsNs, text })).reverse(),
    reports: reports.filter(({ type }) => type === "error_report").map(({ payload }) => toReport(payload)),
    records: reports.filter(({ type }) => type === "flight_record").map(({ payload }) => toRecord(payload)),
  });
  const lastStep = signs.reduce<bigint | null>((most, { last_step: step }) => laterOf(most, step), null);
  return {
    ...death,
    exit,
    end_ns: endNs?.toString() ?? null,
    last_step: lastStep?.toString() ?? null,
    lines: told.map(({ tsNs, ...line }) => ({ ts_ns: tsNs.toString(), ...line })),
    workers: toSigns(signs, doing),
    open,
    metrics: metrics.toSorted((a, b) => oddOf(b) - oddOf(a)).slice(0, metricsMax),
    refused: reports
      .filter(({ type }) => type === "flight_record_refused")
      .map(({ payload }) => String((JSON.parse(payload) as { reason?: unknown }).reason)),
  };
}

function laterOf(a: bigint | null, b: bigint | null): bigint | null {
  if (a === null || b === null) return a ?? b;
  return a > b ? a : b;
}

function oddOf({ nan, pos_inf, neg_inf }: MetricInfo): number {
  return Number(nan + pos_inf + neg_inf > 0);
}

function toError(type: string, message: string, end: string): DeathEvidence["error"] {
  if (type === "" && message === "") return null;
  const { error } = (end === "" ? {} : JSON.parse(end)) as { error?: { traceback?: unknown } };
  const traceback = error?.traceback;
  return { type, message, traceback: typeof traceback === "string" ? traceback : "" };
}

/** As `tributary run` writes it; missing fields are empty. */
function toReport(payload: string): WorkerReport {
  const { rank, message, traceback, ts_ns } = JSON.parse(payload) as Record<string, unknown>;
  return {
    rank: typeof rank === "number" ? rank : null,
    message: String(message ?? ""),
    traceback: String(traceback ?? ""),
    tsNs: typeof ts_ns === "string" && /^\d{1,19}$/.test(ts_ns) ? BigInt(ts_ns) : null,
  };
}

/** Anybody may have sent it: what is no entry, and what is no list of ranks, is left out. */
function toRecord(payload: string): RankRecord {
  const { rank, entries, groups } = JSON.parse(payload) as Record<string, unknown>;
  const told = Object.entries(groups ?? {}).filter(([, ranks]) => Array.isArray(ranks)) as [string, number[]][];
  return {
    rank: Number(rank ?? -1),
    entries: Array.isArray(entries) ? entries.filter(isEntry) : [],
    groups: Object.fromEntries(told),
  };
}

function isEntry(value: unknown): value is CollectiveEntry {
  const { seq, ...words } = (value ?? {}) as Record<string, unknown>;
  const { group, op, state, shape, frame } = words;
  return Number.isSafeInteger(seq) && [group, op, state, shape, frame].every((word) => typeof word === "string");
}

function toSigns(
  rows: Awaited<ReturnType<typeof reader.readLastSigns>>,
  said: Awaited<ReturnType<typeof reader.readLastStatus>>,
): PostMortem["workers"] {
  const doing = new Map(said.map(({ worker, status, msg }) => [worker, msg === "" ? status : `${status}: ${msg}`]));
  const latest = rows.reduce((most, { last_ns }) => (last_ns > most ? last_ns : most), 0n);
  return rows.map(({ worker, last_ns, last_step }) => ({
    worker,
    last_ns: last_ns.toString(),
    last_step: last_step?.toString() ?? null,
    behind_ns: (latest - last_ns).toString(),
    doing: doing.get(worker) ?? "",
  }));
}

type SaidOpen = Omit<PostMortem["open"][number], "holds">;

async function readOpen({ store }: Sources, groups: readonly string[]): Promise<PostMortem["open"]> {
  const [parents, said] = await Promise.all([
    reader.readUnclosedParents(store, groups),
    reader.readOpenSpans(store, groups),
  ]);
  // Each group reports what was open when it was last heard of; several may report one span.
  const told = [...new Map(said.flatMap(parseOpen).map((span) => [span.id, span])).values()];
  const arrived = new Set(
    told.length === 0
      ? []
      : await reader.readArrivedSpans(
          store,
          groups,
          told.map(({ id }) => id),
        ),
  );
  const holdsOf = new Map(
    parents.map((row) => [row.id, `${sayCount(row.children, "span")}, the last was ${row.child}`]),
  );
  const open = told
    .filter(({ id }) => !arrived.has(id))
    .map((span) => ({ ...span, holds: holdsOf.get(span.id) ?? "" }));
  const known = new Set(open.map(({ id }) => id));
  const rest = parents
    .filter(({ id }) => !known.has(id))
    .map(({ id, rank, first_ns }) => ({
      id,
      name: "",
      rank,
      start_ns: first_ns.toString(),
      holds: holdsOf.get(id) as string,
    }));
  return [...open, ...rest];
}

/** What a client says of its open spans, as far as it can be understood. */
function parseOpen(text: string): SaidOpen[] {
  const list: unknown = JSON.parse(text);
  if (!Array.isArray(list)) return [];
  return list.flatMap((one: unknown) => {
    const { id, name, rank, start_ns } = (one ?? {}) as Record<string, unknown>;
    const start = String(start_ns);
    if (typeof id !== "string" || typeof name !== "string" || !/^\d{1,19}$/.test(start)) return [];
    return [{ id, name, rank: typeof rank === "number" ? rank : null, start_ns: start }];
  });
}
