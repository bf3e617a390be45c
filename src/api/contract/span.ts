// The timeline: spans (Cirron) and node executions (Semantiva) of a window at a pixel resolution.
// What is narrower than a pixel and lies side by side in one lane and depth is merged into one box that says
// how many it stands for; its name is the one that took most of the time.

import type { Static } from "typebox";
import { AsOf, Count, Float, Int64, JsonText, nullable, repeated, TimeNs, WindowQuery, word } from "./scalar.ts";
import { Type } from "./schema.ts";

export const Lane = Type.Object({
  id: Count,
  rank: nullable(Type.Integer()),
  pid: nullable(Int64),
  thread: nullable(Int64),
  /** The session or worker the lane belongs to. */
  session: Type.String(),
  label: Type.String(),
  /** Rows of nesting in the whole run, not only in the window. */
  depth: Count,
  spans: Count,
  has_gpu: Type.Boolean(),
});
export type Lane = Static<typeof Lane>;

export const SpansQuery = Type.Object({
  ...WindowQuery,
  width: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 16384, description: "Width of the window in pixels; default 1,000." }),
  ),
  name: Type.Optional(Type.String({ description: "Only spans with this name; * is a wildcard." })),
  lane: Type.Optional(Count),
});
export type SpansQuery = Static<typeof SpansQuery>;

/** Columns: element i of each is box i. Boxes are sorted by lane, depth, start. Times are `base_ns + start[i]`. */
export const SpansAnswer = Type.Object({
  /** The whole run, and the window that was answered; null when there are no spans. */
  extent: nullable(Type.Object({ from_ns: TimeNs, to_ns: TimeNs })),
  base_ns: TimeNs,
  window: Type.Object({ from: Type.Number(), to: Type.Number() }),
  lanes: Type.Array(Lane),
  names: Type.Array(Type.String()),
  spans: Type.Object({
    lane: Type.Array(Count),
    depth: Type.Array(Count),
    name: Type.Array(Count),
    start: Type.Array(Type.Number()),
    end: Type.Array(Type.Number()),
    gpu_ns: Type.Array(nullable(Type.Number())),
    /** 1 for a span; more for a merged box. */
    merged: Type.Array(Count),
    /** How many names the spans of a box have; `name` is the one that took most of the time. */
    names: Type.Array(Count),
    /** '' for a merged box. */
    id: Type.Array(Type.String()),
    index: Type.Array(nullable(Int64)),
    /** Bits of span-flags.ts. */
    flags: Type.Array(Count),
  }),
  marks: Type.Object({
    lane: Type.Array(Count),
    name: Type.Array(Count),
    at: Type.Array(Type.Number()),
    merged: Type.Array(Count),
  }),
  /** Spans in the window, merged ones counted one by one. */
  total: Count,
  as_of: AsOf,
});
export type SpansAnswer = Static<typeof SpansAnswer>;

export const SpanSummaryQuery = Type.Object({
  ...WindowQuery,
  by: Type.Optional(word(["name", "name_rank"])),
});

export const SpanSummaryRow = Type.Object({
  name: Type.String(),
  rank: nullable(Type.Integer()),
  /** Spans that touch the window; the quantiles below are of their whole lengths. */
  count: Count,
  /** Only the part inside the window. */
  wall_ns: Int64,
  /** Wall time minus children's, null where nesting does not allow it. */
  self_ns: nullable(Int64),
  cpu_ns: nullable(Int64),
  gpu_ns: nullable(Int64),
  p50_ns: Int64,
  p95_ns: Int64,
  p99_ns: Int64,
  max_ns: Int64,
  /** Wall time over the window's length, 0…1; may be more than 1 with several lanes. */
  share: Type.Number(),
});
export type SpanSummaryRow = Static<typeof SpanSummaryRow>;

export const SpanSummaryAnswer = Type.Object({ rows: Type.Array(SpanSummaryRow), as_of: AsOf });

export const SpanFlameQuery = Type.Object({
  ...WindowQuery,
  lane: Type.Optional(repeated(Type.Integer({ minimum: 0, description: "Only these lanes of `spans`." }), 256)),
});

/** Columns: element i of each is node i. Spans of one name under the same path of nesting are one node. */
export const SpanFlameAnswer = Type.Object({
  names: Type.Array(Type.String()),
  nodes: Type.Object({
    /** The node above, which comes before it; -1 at the top. */
    parent: Type.Array(Type.Integer()),
    name: Type.Array(Count),
    count: Type.Array(Count),
    /** Only the part inside the window, of all spans together. */
    wall_ns: Type.Array(Type.Number()),
    gpu_ns: Type.Array(nullable(Type.Number())),
  }),
  /** Spans that were added up. */
  total: Count,
  as_of: AsOf,
});
export type SpanFlameAnswer = Static<typeof SpanFlameAnswer>;

export const SpanPath = Type.Object({ id: Type.String({ minLength: 1 }), span: Type.String({ minLength: 1 }) });

export const SpanRef = Type.Object({
  id: Type.String(),
  name: Type.String(),
  index: nullable(Int64),
  arrived: Type.Boolean(),
});

const WholeRecord = Type.String({
  description: "If a text here is cut, the id for `GET …/events/<id>`, which returns the whole record; else ''.",
});

export const SpanDetail = Type.Object({
  id: Type.String(),
  name: Type.String(),
  index: nullable(Int64),
  flags: Count,
  start_ns: TimeNs,
  end_ns: nullable(TimeNs),
  cpu_ns: nullable(Int64),
  gpu_ns: nullable(Int64),
  memory_peak_bytes: nullable(Int64),
  rank: nullable(Type.Integer()),
  pid: nullable(Int64),
  thread: nullable(Int64),
  session: Type.String(),
  attrs: JsonText,
  /** Fields that the document does not know and values that fit no column, as an object; '' when there are none. */
  extra: JsonText,
  record: WholeRecord,
  /** From the root down, without the span itself; the nearest 128. */
  ancestors: Type.Array(SpanRef),
  /** The span lies deeper: there are more above the first one. */
  ancestors_cut: Type.Boolean(),
  children: Count,
  /** Of all its marks; the first 1,000 in order of time are below. */
  mark_count: Count,
  marks: Type.Array(
    Type.Object({
      id: Type.String(),
      name: Type.String(),
      kind: Type.String(),
      value: nullable(Float),
      text: Type.String({ description: "The value's exact text." }),
      ts_ns: TimeNs,
      attrs: JsonText,
      extra: JsonText,
      record: WholeRecord,
    }),
  ),
  snapshots: Count,
  as_of: AsOf,
});
export type SpanDetail = Static<typeof SpanDetail>;
