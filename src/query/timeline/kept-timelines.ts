// Timelines of runs that were looked at recently: panning and zooming ask for window after window of the same spans. A
// timeline is kept with the fingerprints of the rows it was made of. When the stored rows are no longer these, those
// that came since are added; when others came or went, it is made again.

import { inTurns } from "#base/turns.ts";
import type { Kept, KeptShelf } from "#query/kept.ts";
import { beforeAll, type Fingerprint, isSameRows, type StoredRows } from "#store/reader/fingerprint.ts";
import * as reader from "#store/reader/timeline.ts";
import {
  blockFlags,
  type MarkBlock,
  type RowRange,
  type SpanBlock,
  type TimelineTable,
  timelineTables,
} from "#store/reader/timeline.ts";
import { type Store, withOptions } from "#store/store.ts";
import { layOut, layoutBytesPerSpan, type TimelineLayout } from "./layout.ts";
import { layOutMarks, type MarkLayout, markLayoutBytes, TimelineMarks } from "./marks.ts";
import { TimelineSpans } from "./spans.ts";

type SpanTable = Exclude<TimelineTable, "marks">;

/** What a timeline is read from. */
export type TimelineReads = ReturnType<typeof timelineReads>;

export function timelineReads(store: Store) {
  return {
    /** Changes with every stored row, and sometimes without one; much cheaper than `state`. */
    parts: (groups: readonly string[]) => reader.readTimelineParts(store, groups),
    state: (groups: readonly string[], before: Readonly<Record<TimelineTable, bigint>>) =>
      reader.readTimelineState(store, groups, before),
    spans: (table: SpanTable, range: RowRange, signal: AbortSignal): AsyncIterable<SpanBlock> =>
      reader.readSpanBlocks(withOptions(store, { signal }), table, range),
    oddIds: (table: SpanTable, range: RowRange, signal: AbortSignal) =>
      reader.readOddIds(withOptions(store, { signal }), table, range),
    marks: (range: RowRange, signal: AbortSignal): AsyncIterable<MarkBlock> =>
      reader.readMarkBlocks(withOptions(store, { signal }), range),
  };
}

/** A run of more spans is not laid out. */
const spansMaxUsual = 6_000_000;

export interface Timeline {
  readonly layout: TimelineLayout;
  readonly marks: MarkLayout;
}

export interface TooManySpans {
  readonly tooMany: number;
  /** What would still be laid out. */
  readonly most: number;
}

type State = Readonly<Record<TimelineTable, StoredRows>>;
type Seen = Record<TimelineTable, { readonly rows: Fingerprint; readonly last: bigint }>;

interface Entry extends Timeline {
  readonly spans: TimelineSpans;
  readonly markColumns: TimelineMarks;
  readonly seen: Seen;
  /** As read before the rows, so that rows which came in between are looked for again. */
  parts: string;
}

export class KeptTimelines {
  private readonly reads: TimelineReads;
  private readonly spansMax: number;
  /** By the groups of a run. */
  private readonly kept: KeptShelf<Entry>;
  /** What waits for a run's timeline: it is read for one caller at a time, and the next finds it. */
  private readonly waiting = new Map<string, Promise<unknown>>();

  constructor(reads: TimelineReads, kept: Kept, spansMax: number = spansMaxUsual) {
    this.reads = reads;
    this.kept = kept.shelf("timelines");
    this.spansMax = spansMax;
  }

  /** Everything that is stored when it is called; the number of spans when there are too many. */
  get(groups: readonly string[], signal: AbortSignal): Promise<Timeline | TooManySpans> {
    const key = groups.join("\n");
    const before = this.waiting.get(key) ?? Promise.resolve();
    const turn = before.then(() => this.bring(key, groups, signal));
    const done = turn.then(
      () => {},
      () => {},
    );
    this.waiting.set(key, done);
    done.then(() => {
      if (this.waiting.get(key) === done) this.waiting.delete(key);
    });
    return turn;
  }

  private async bring(key: string, groups: readonly string[], signal: AbortSignal): Promise<Timeline | TooManySpans> {
    const kept = this.kept.get(key);
    const parts = await this.reads.parts(groups);
    if (kept?.parts === parts) return kept;
    const state = await this.reads.state(
      groups,
      positions((table) => kept?.seen[table].last ?? beforeAll),
    );
    const tooMany = state.spans.all.rows + state.nodes.all.rows;
    // From here on nothing is kept that may be half done when a read fails.
    this.kept.delete(key);
    if (tooMany > this.spansMax) return { tooMany, most: this.spansMax };
    if (kept !== undefined && timelineTables.every((table) => isSameRows(state[table].all, kept.seen[table].rows))) {
      kept.parts = parts;
      this.keep(key, kept);
      return kept;
    }
    const canGrow =
      kept !== undefined && timelineTables.every((table) => isSameRows(state[table].before, kept.seen[table].rows));
    const fresh = { ...(await this.read(groups, state, canGrow ? kept : null, signal)), parts };
    // Rows that came while these were read may or may not be among them.
    const after = await this.reads.state(
      groups,
      positions((table) => state[table].last),
    );
    if (timelineTables.every((table) => isSameRows(after[table].before, state[table].all))) this.keep(key, fresh);
    return fresh;
  }

  private async read(
    groups: readonly string[],
    state: State,
    old: Entry | null,
    signal: AbortSignal,
  ): Promise<Omit<Entry, "parts">> {
    const spans = old?.spans ?? new TimelineSpans();
    const markColumns = old?.markColumns ?? new TimelineMarks();
    const range = (table: TimelineTable): RowRange => ({
      groups,
      after: old?.seen[table].last ?? beforeAll,
      last: state[table].last,
    });
    const added = (table: TimelineTable): number => state[table].all.rows - (old?.seen[table].rows.rows ?? 0);
    spans.reserve(added("spans") + added("nodes"));
    for (const table of ["spans", "nodes"] as const)
      if (added(table) > 0) await this.readSpans(spans, table, range(table), signal);
    await inTurns(spans.settle());
    markColumns.reserve(added("marks"));
    if (added("marks") > 0)
      for await (const block of this.reads.marks(range("marks"), signal)) markColumns.append(block, spans);
    const layout = await inTurns(layOut(spans));
    const seen = toSeen((table) => ({ rows: state[table].all, last: state[table].last }));
    return { spans, markColumns, seen, layout, marks: await inTurns(layOutMarks(markColumns, layout)) };
  }

  private async readSpans(spans: TimelineSpans, table: SpanTable, range: RowRange, signal: AbortSignal): Promise<void> {
    let hasOdd = false;
    for await (const block of this.reads.spans(table, range, signal)) {
      hasOdd ||= block.flags.some((flags) => (flags & blockFlags.odd) !== 0);
      spans.append(block);
    }
    if (hasOdd) await inTurns(spans.addOddIds(await this.reads.oddIds(table, range, signal)));
  }

  private keep(key: string, fresh: Entry): void {
    this.kept.set(key, fresh, bytesOf(fresh));
  }
}

function bytesOf({ spans, markColumns }: Entry): number {
  const layouts = spans.count * layoutBytesPerSpan + markColumns.count * markLayoutBytes;
  return spans.bytes + markColumns.bytes + layouts;
}

function positions(of: (table: TimelineTable) => bigint): Record<TimelineTable, bigint> {
  return { spans: of("spans"), nodes: of("nodes"), marks: of("marks") };
}

function toSeen(of: (table: TimelineTable) => Seen[TimelineTable]): Seen {
  return { spans: of("spans"), nodes: of("nodes"), marks: of("marks") };
}
