// Spans of a run: the timeline of a window, its time by name and by path of nesting, and one span.

import { ofRun, type Route, refuseRun, toBigInt } from "#api/context.ts";
import type { Lane, SpanDetail, SpansAnswer } from "#api/contract/span.ts";
import { toExactJson } from "#api/handler.ts";
import { Refusal } from "#api/refusal.ts";
import { inTurns } from "#base/turns.ts";
import type { TooManySpans } from "#query/timeline/kept-timelines.ts";
import { depthMax, type TimelineLane } from "#query/timeline/layout.ts";
import type { MarkTick } from "#query/timeline/marks.ts";
import { readBoxes, readFlame, type ShownTimeline, type TimelineQuestion } from "#query/timeline/read-timeline.ts";
import { readSpanDetail, summarizeSpans } from "#query/timeline/span-detail.ts";
import { noIndex, type TimelineSpans } from "#query/timeline/spans.ts";
import type { TimelineBoxes } from "#query/timeline/window.ts";

const widthDefault = 1000;

export const spansRoute: Route<"spans"> = async (context, request) => {
  const { width: widthPx = widthDefault, name = null, lane = null } = request.query;
  const question = { ...toQuestion(request), widthPx, name, lane };
  const found = await readBoxes(context.sources, question, request.signal);
  return inTurns(answer(orRefuse(found, question.id), request.asOf));
};

export const spanFlameRoute: Route<"spanFlame"> = async (context, request) => {
  const { lane } = request.query;
  const question = toQuestion(request);
  const lanes = lane === undefined ? null : new Set(lane);
  const { names, flame } = orRefuse(await readFlame(context.sources, question, lanes, request.signal), question.id);
  const { sorted, codeOf } = sortNames(names);
  const name = flame.name.map((code) => codeOf[code] as number);
  return {
    names: sorted,
    nodes: { parent: flame.parent, name, count: flame.count, wall_ns: flame.wall, gpu_ns: flame.gpu },
    total: flame.count.reduce((sum, count) => sum + count, 0),
    as_of: request.asOf,
  };
};

export const spanSummaryRoute: Route<"spanSummary"> = ofRun(async (context, { query, asOf, groups }) => {
  const fromNs = toBigInt(query.from_ns);
  const toNs = toBigInt(query.to_ns);
  const byRank = query.by === "name_rank";
  const rows = await summarizeSpans(context.sources, { groups, fromNs, toNs }, byRank);
  const times = rows.map((row) => [BigInt(row.first_ns), BigInt(row.last_ns)] as const);
  const first = fromNs ?? times.reduce((least, [from]) => (from < least ? from : least), times[0]?.[0] ?? 0n);
  const last = toNs ?? times.reduce((most, [, to]) => (to > most ? to : most), times[0]?.[1] ?? 0n);
  const lengthNs = Math.max(1, Number(last - first));
  return {
    rows: rows.map(({ first_ns: _, last_ns: __, ...row }) => ({ ...row, share: Number(row.wall_ns) / lengthNs })),
    as_of: asOf,
  };
});

export const spanRoute: Route<"span"> = ofRun(async (context, { asOf, run, params, groups }) => {
  const span = await readSpanDetail(context.sources, groups, params.span);
  if (span !== null) return toExactJson<SpanDetail>({ ...span, session: run.runId, as_of: asOf });
  throw new Refusal("span_not_found", `This run has no span ${JSON.stringify(params.span)}.`, {
    hint: "It may be an ancestor that never arrived: then only its children are known.",
    at: { part: "path", name: "span" },
  });
});

/** What the routes of a timeline ask. */
function toQuestion({ params, caller, query }: TimelineRequest): TimelineQuestion {
  const { workspace } = caller;
  return { workspace, id: params.id, fromNs: toBigInt(query.from_ns), toNs: toBigInt(query.to_ns) };
}

interface TimelineRequest {
  readonly params: { readonly id: string };
  readonly caller: { readonly workspace: string };
  readonly query: { readonly from_ns?: string | undefined; readonly to_ns?: string | undefined };
}

/** Of a run that is there and not too large. */
function orRefuse<T extends object>(found: T | TooManySpans | null, id: string): T {
  if (found === null) throw refuseRun(id);
  if ("tooMany" in found) throw tooManySpans(found);
  return found;
}

function tooManySpans({ tooMany, most }: TooManySpans): Refusal {
  return new Refusal("timeline_too_large", `This run has ${tooMany} spans; a timeline can show ${most}.`, {
    hint: "Use /spans/summary for time by name, or SQL over the view `spans`.",
  });
}

/** The order in which names came says nothing, and the same spans give the same answer. */
function sortNames(names: readonly string[]): { sorted: string[]; codes: Map<string, number>; codeOf: number[] } {
  const sorted = names.toSorted();
  const codes = new Map(sorted.map((text, code) => [text, code]));
  return { sorted, codes, codeOf: names.map((text) => codes.get(text) as number) };
}

/** With pauses among very many boxes. What the next question may change is read before the first. */
function* answer({ layout, window, boxes, ticks }: ShownTimeline, asOf: string): Generator<void, SpansAnswer> {
  const { spans } = layout;
  const { baseNs } = spans;
  const { sorted: names, codes, codeOf } = sortNames(spans.names.texts);
  const extent =
    spans.count === 0
      ? null
      : { from_ns: (baseNs + ns(layout.from)).toString(), to_ns: (baseNs + ns(layout.to)).toString() };
  const columns = yield* toColumns(spans, boxes, codeOf);
  return {
    extent,
    base_ns: baseNs.toString(),
    window: { from: window.from, to: window.to },
    lanes: layout.lanes.map(toLane),
    names,
    spans: columns,
    marks: toMarks(ticks, names, codes),
    total: boxes.total,
    as_of: asOf,
  };
}

function toLane({ text, depth, spans, hasGpu }: TimelineLane, id: number): Lane {
  const shared = { id, session: "", depth, spans, has_gpu: hasGpu };
  if (text === "node") return { ...shared, rank: null, pid: null, thread: null, label: "pipeline nodes" };
  const [rank, pid, thread] = text.split("/") as [string, string, string];
  return {
    ...shared,
    rank: Number(rank),
    pid: pid === "" ? null : pid,
    thread: thread === "" ? null : thread,
    label: [
      `rank ${rank}`,
      pid === "" ? "" : `pid ${pid}`,
      thread === "" ? "" : `thread ${thread}`,
      depth > depthMax ? `nests deeper than ${depthMax}, the last row has the rest` : "",
    ]
      .filter(Boolean)
      .join(" · "),
  };
}

const pauseBoxes = 4096;

function* toColumns(
  spans: TimelineSpans,
  boxes: TimelineBoxes,
  codeOf: readonly number[],
): Generator<void, SpansAnswer["spans"]> {
  const { stored } = spans;
  const name = Array.from(boxes.name, (code) => codeOf[code] as number);
  // Placeholders stand behind what is stored and are worked out again when spans come; what is stored stays as it is.
  const id = boxes.span.map((span) => (span >= stored ? spans.idText(span) : ""));
  const index: (string | null)[] = boxes.span.map(() => null);
  for (let at = 0; at < boxes.span.length; at++) {
    if (at % pauseBoxes === pauseBoxes - 1) yield;
    const span = boxes.span[at] as number;
    if (span < 0 || span >= stored) continue;
    id[at] = spans.idText(span);
    const own = spans.index[span] as bigint;
    index[at] = own === noIndex ? null : own.toString();
  }
  return {
    lane: boxes.lane,
    depth: boxes.depth,
    name,
    start: boxes.start,
    end: boxes.end,
    gpu_ns: boxes.gpu,
    merged: boxes.merged,
    names: boxes.names,
    id,
    index,
    flags: boxes.flags,
  };
}

function toMarks(ticks: readonly MarkTick[], names: string[], codes: Map<string, number>): SpansAnswer["marks"] {
  const marks: SpansAnswer["marks"] = { lane: [], name: [], at: [], merged: [] };
  for (const tick of ticks) {
    let name = codes.get(tick.name);
    if (name === undefined) {
      name = names.push(tick.name) - 1;
      codes.set(tick.name, name);
    }
    marks.lane.push(tick.lane);
    marks.name.push(name);
    marks.at.push(tick.at);
    marks.merged.push(tick.merged);
  }
  return marks;
}

function ns(offset: number): bigint {
  return BigInt(Math.floor(offset));
}
