// GET /runs/<id>/spans: the timeline of a window.

import { type ApiContext, resolveRun, toBigInt } from "#api/context.ts";
import type { Lane, SpansAnswer } from "#api/contract/span.ts";
import type { Handler } from "#api/handler.ts";
import { Refusal } from "#api/refusal.ts";
import { groupKeysOf } from "#query/runs/find-run.ts";
import { like } from "#query/runs/match.ts";
import type { Timeline } from "#query/timeline/kept-timelines.ts";
import { depthMax, type TimelineLane, type TimelineLayout } from "#query/timeline/layout.ts";
import { type MarkLayout, toTicks } from "#query/timeline/marks.ts";
import { noIndex, type TimelineSpans } from "#query/timeline/spans.ts";
import { type TimelineBoxes, type TimelineWindow, toBoxes } from "#query/timeline/window.ts";

const widthDefault = 1000;

export function spansRoute(context: ApiContext): Handler<"spans"> {
  return async (request): Promise<SpansAnswer> => {
    const asOf = context.asOf();
    return answer(await timelineOf(context, request), request.query, asOf);
  };
}

/** The timeline of a run that is not too large for one. */
export async function timelineOf(
  context: ApiContext,
  request: Parameters<typeof resolveRun>[1] & { readonly signal: AbortSignal },
): Promise<Timeline> {
  const run = await resolveRun(context, request);
  const timeline = await context.sources.timelines.get(groupKeysOf(run), request.signal);
  if ("tooMany" in timeline) throw tooManySpans(timeline);
  return timeline;
}

/** On the clock of the layout; the whole of it where nothing is asked. */
export function windowOf(
  layout: TimelineLayout,
  query: { readonly from_ns?: string | undefined; readonly to_ns?: string | undefined },
): { readonly from: number; readonly to: number } {
  const fromNs = toBigInt(query.from_ns);
  const toNs = toBigInt(query.to_ns);
  const { baseNs } = layout.spans;
  return {
    from: fromNs === null ? layout.from : Number(fromNs - baseNs),
    to: toNs === null ? layout.to + 1 : Number(toNs - baseNs),
  };
}

function tooManySpans({ tooMany, most }: { readonly tooMany: number; readonly most: number }): Refusal {
  return new Refusal("timeline_too_large", `This run has ${tooMany} spans; a timeline is drawn of ${most}.`, {
    hint: "Time by name is in /spans/summary, and SQL over the view `spans` answers anything else.",
  });
}

type Query = Parameters<Handler<"spans">>[0]["query"];

function answer({ layout, marks }: Timeline, query: Query, asOf: string): SpansAnswer {
  const { spans } = layout;
  const { baseNs } = spans;
  const window: TimelineWindow = {
    ...windowOf(layout, query),
    widthPx: query.width ?? widthDefault,
    names: query.name === undefined ? null : namesLike(spans, query.name),
    lane: query.lane ?? null,
  };
  const boxes = toBoxes(layout, window);
  // Sorted: the order in which names came says nothing, and the same spans give the same answer.
  const names = spans.names.texts.toSorted();
  const codes = new Map(names.map((name, code) => [name, code]));
  return {
    extent:
      spans.count === 0
        ? null
        : { from_ns: (baseNs + ns(layout.from)).toString(), to_ns: (baseNs + ns(layout.to)).toString() },
    base_ns: baseNs.toString(),
    window: { from: window.from, to: window.to },
    lanes: layout.lanes.map(toLane),
    names,
    spans: toColumns(spans, boxes, codes),
    marks: toMarks(marks, window, names, codes),
    total: boxes.total,
    as_of: asOf,
  };
}

function namesLike(spans: TimelineSpans, pattern: string): Set<number> {
  const isWanted = (name: string): boolean => (pattern.includes("*") ? like(name, pattern) : name === pattern);
  return new Set(spans.names.texts.flatMap((name, code) => (isWanted(name) ? [code] : [])));
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

function toColumns(
  spans: TimelineSpans,
  boxes: TimelineBoxes,
  codes: ReadonlyMap<string, number>,
): SpansAnswer["spans"] {
  return {
    lane: boxes.lane,
    depth: boxes.depth,
    name: Array.from(boxes.name, (code) => codes.get(spans.names.texts[code] as string) as number),
    start: boxes.start,
    end: boxes.end,
    gpu_ns: boxes.gpu,
    merged: boxes.merged,
    names: boxes.names,
    id: boxes.span.map((span) => (span < 0 ? "" : spans.idText(span))),
    index: boxes.span.map((span) => {
      const index = span < 0 ? noIndex : (spans.index[span] as bigint);
      return index === noIndex ? null : index.toString();
    }),
    flags: boxes.flags,
  };
}

function toMarks(
  layout: MarkLayout,
  window: TimelineWindow,
  names: string[],
  codes: Map<string, number>,
): SpansAnswer["marks"] {
  const marks: SpansAnswer["marks"] = { lane: [], name: [], at: [], merged: [] };
  for (const tick of toTicks(layout, window)) {
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
