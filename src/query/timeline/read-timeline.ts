// What a window shows of a run's timeline: from an id to boxes, or to the time by path of nesting.

import { findRun, groupKeysOf } from "#query/runs/find-run.ts";
import { like } from "#query/runs/match.ts";
import type { Sources } from "#query/sources.ts";
import { type FlameNodes, toFlame } from "./flame.ts";
import type { Timeline, TooManySpans } from "./kept-timelines.ts";
import type { TimelineLayout } from "./layout.ts";
import { type MarkTick, toTicks } from "./marks.ts";
import type { TimelineSpans } from "./spans.ts";
import { type TimelineBoxes, type TimelineWindow, toBoxes } from "./window.ts";

export interface TimelineQuestion {
  readonly workspace: string;
  /** Any id that the run was ever known by. */
  readonly id: string;
  /** The whole of the run where null. */
  readonly fromNs: bigint | null;
  readonly toNs: bigint | null;
}

export interface BoxQuestion extends TimelineQuestion {
  readonly widthPx: number;
  /** Only spans of this name, in which `*` stands for anything; null for all. */
  readonly name: string | null;
  readonly lane: number | null;
}

export interface ShownTimeline {
  readonly layout: TimelineLayout;
  readonly window: TimelineWindow;
  readonly boxes: TimelineBoxes;
  readonly ticks: readonly MarkTick[];
}

/** Null when there is no such run. */
export async function readBoxes(
  sources: Sources,
  question: BoxQuestion,
  signal: AbortSignal,
): Promise<ShownTimeline | TooManySpans | null> {
  const timeline = await findTimeline(sources, question, signal);
  if (timeline === null || "tooMany" in timeline) return timeline;
  const { layout, marks } = timeline;
  const { widthPx, name, lane } = question;
  const names = name === null ? null : namesLike(layout.spans, name);
  const window = { ...windowOf(layout, question), widthPx, names, lane };
  return { layout, window, boxes: toBoxes(layout, window), ticks: toTicks(marks, window) };
}

/** Null when there is no such run. */
export async function readFlame(
  sources: Sources,
  question: TimelineQuestion,
  lanes: ReadonlySet<number> | null,
  signal: AbortSignal,
): Promise<{ readonly names: readonly string[]; readonly flame: FlameNodes } | TooManySpans | null> {
  const timeline = await findTimeline(sources, question, signal);
  if (timeline === null || "tooMany" in timeline) return timeline;
  const { layout } = timeline;
  return { names: layout.spans.names.texts, flame: toFlame(layout, { ...windowOf(layout, question), lanes }) };
}

async function findTimeline(
  sources: Sources,
  { workspace, id }: TimelineQuestion,
  signal: AbortSignal,
): Promise<Timeline | TooManySpans | null> {
  const run = await findRun(sources, workspace, id);
  return run === null ? null : sources.timelines.get(groupKeysOf(run), signal);
}

/** On the clock of the layout. */
function windowOf({ spans, from, to }: TimelineLayout, { fromNs, toNs }: TimelineQuestion) {
  return {
    from: fromNs === null ? from : Number(fromNs - spans.baseNs),
    to: toNs === null ? to + 1 : Number(toNs - spans.baseNs),
  };
}

function namesLike(spans: TimelineSpans, pattern: string): Set<number> {
  const isWanted = (name: string): boolean => (pattern.includes("*") ? like(name, pattern) : name === pattern);
  return new Set(spans.names.texts.flatMap((name, code) => (isWanted(name) ? [code] : [])));
}
