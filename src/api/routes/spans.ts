// GET /runs/<id>/spans: the timeline of a window. The layout of a run is kept for a while: panning and zooming ask
// for window after window of the same spans.

import { type ApiContext, groupKeys, resolveRun, toBigInt } from "#api/context.ts";
import type { Lane, SpansAnswer } from "#api/contract/span.ts";
import type { Handler } from "#api/handler.ts";
import { noIndex, type TimelineSpans } from "#model/timeline.ts";
import { like } from "#query/runs/match.ts";
import { layOut, type TimelineLayout } from "#query/timeline/layout.ts";
import { type TimelineBoxes, type TimelineWindow, toBoxes } from "#query/timeline/window.ts";

const widthDefault = 1000;
const keptBytesMax = 512 * 1024 * 1024;
const bytesPerSpan = 80;

interface Kept {
  readonly asOf: string;
  readonly layout: TimelineLayout;
}

/** Layouts by run, the one that was asked for last at the end. */
class LayoutCache {
  private readonly kept = new Map<string, Kept>();

  find(key: string, asOf: string): TimelineLayout | null {
    const found = this.kept.get(key);
    if (found === undefined || found.asOf !== asOf) return null;
    this.kept.delete(key);
    this.kept.set(key, found);
    return found.layout;
  }

  keep(key: string, kept: Kept): void {
    this.kept.delete(key);
    this.kept.set(key, kept);
    let bytes = 0;
    for (const { layout } of this.kept.values()) bytes += layout.spans.count * bytesPerSpan;
    for (const [oldest, { layout }] of this.kept) {
      if (bytes <= keptBytesMax || this.kept.size === 1) return;
      this.kept.delete(oldest);
      bytes -= layout.spans.count * bytesPerSpan;
    }
  }
}

export function spansRoute(context: ApiContext): Handler<"spans"> {
  const cache = new LayoutCache();
  return async (request): Promise<SpansAnswer> => {
    const asOf = context.asOf();
    const run = await resolveRun(context, request);
    const groups = groupKeys(run);
    const version = await context.reads.timelineVersion(groups);
    const key = groups.join("\n");
    let layout = cache.find(key, version);
    if (layout === null) {
      layout = layOut(await context.reads.timelineSpans(groups, request.signal));
      cache.keep(key, { asOf: version, layout });
    }
    return answer(context, groups, layout, request.query, asOf);
  };
}

type Query = Parameters<Handler<"spans">>[0]["query"];

async function answer(
  context: ApiContext,
  groups: readonly string[],
  layout: TimelineLayout,
  query: Query,
  asOf: string,
): Promise<SpansAnswer> {
  const { spans } = layout;
  const { baseNs } = spans;
  const fromNs = toBigInt(query.from_ns);
  const toNs = toBigInt(query.to_ns);
  const window: TimelineWindow = {
    from: fromNs === null ? layout.from : Number(fromNs - baseNs),
    to: toNs === null ? layout.to + 1 : Number(toNs - baseNs),
    widthPx: query.width ?? widthDefault,
    names: query.name === undefined ? null : namesLike(spans, query.name),
    lane: query.lane ?? null,
  };
  const boxes = toBoxes(layout, window);
  const names = [...spans.names];
  return {
    extent:
      spans.count === 0
        ? null
        : { from_ns: (baseNs + ns(layout.from)).toString(), to_ns: (baseNs + ns(layout.to)).toString() },
    base_ns: baseNs.toString(),
    window: { from: window.from, to: window.to },
    lanes: spans.lanes.map((text, id) => toLane(text, id, layout)),
    names,
    spans: toColumns(spans, boxes),
    marks: await readMarks(context, groups, layout, window, names),
    total: boxes.total,
    as_of: asOf,
  };
}

function namesLike(spans: TimelineSpans, pattern: string): Set<number> {
  const isWanted = (name: string): boolean => (pattern.includes("*") ? like(name, pattern) : name === pattern);
  return new Set(spans.names.flatMap((name, code) => (isWanted(name) ? [code] : [])));
}

function toLane(text: string, id: number, layout: TimelineLayout): Lane {
  const stats = layout.lanes[id] as TimelineLayout["lanes"][number];
  const shared = { id, session: "", depth: stats.depth, spans: stats.spans, has_gpu: stats.hasGpu };
  if (text === "node") return { ...shared, rank: null, pid: null, thread: null, label: "pipeline nodes" };
  const [rank, pid, thread] = text.split("/") as [string, string, string];
  return {
    ...shared,
    rank: Number(rank),
    pid: pid === "" ? null : pid,
    thread: thread === "" ? null : thread,
    label: [`rank ${rank}`, pid === "" ? "" : `pid ${pid}`, thread === "" ? "" : `thread ${thread}`]
      .filter(Boolean)
      .join(" · "),
  };
}

function toColumns(spans: TimelineSpans, boxes: TimelineBoxes): SpansAnswer["spans"] {
  return {
    lane: boxes.lane,
    depth: boxes.depth,
    name: boxes.name,
    start: boxes.start,
    end: boxes.end,
    gpu_ns: boxes.gpu,
    merged: boxes.merged,
    id: boxes.span.map((span) => (span < 0 ? "" : idOf(spans, span))),
    index: boxes.span.map((span) => {
      const index = span < 0 ? noIndex : (spans.index[span] as bigint);
      return index === noIndex ? null : index.toString();
    }),
    flags: boxes.flags,
  };
}

function idOf(spans: TimelineSpans, span: number): string {
  const hex = Buffer.from(spans.ids.buffer, spans.ids.byteOffset + span * 16, 16).toString("hex");
  return spans.oddIds.get(hex) ?? hex;
}

async function readMarks(
  context: ApiContext,
  groups: readonly string[],
  layout: TimelineLayout,
  window: TimelineWindow,
  names: string[],
): Promise<SpansAnswer["marks"]> {
  const { baseNs, lanes } = layout.spans;
  const marks: SpansAnswer["marks"] = { lane: [], name: [], at: [], merged: [] };
  if (!(window.to > window.from)) return marks;
  const ticks = await context.reads.markTicks({
    groups,
    fromNs: baseNs + ns(window.from),
    toNs: baseNs + ns(window.to),
    widthPx: window.widthPx,
  });
  for (const tick of ticks) {
    let name = names.indexOf(tick.name);
    if (name < 0) name = names.push(tick.name) - 1;
    marks.lane.push(Math.max(0, lanes.indexOf(tick.lane)));
    marks.name.push(name);
    marks.at.push(Number(BigInt(tick.ts_ns) - baseNs));
    marks.merged.push(tick.merged);
  }
  return marks;
}

function ns(offset: number): bigint {
  return BigInt(Math.floor(offset));
}
