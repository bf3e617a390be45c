// Where the time of a run went.

import { cut, cutAll, fitLists, pageOf } from "#agent/bound.ts";
import { count, readWindow, round, toMs, toSeconds, toTime } from "#agent/measures.ts";
import { defineTool, pageInput, runInput, windowInput } from "#agent/tool.ts";
import { word } from "#api/contract/scalar.ts";
import { Type } from "#api/contract/schema.ts";
import type { SpanDetail, SpanSummaryRow } from "#api/contract/span.ts";
import { given } from "#base/given.ts";

export const timeBreakdown = defineTool(
  {
    name: "time_breakdown",
    title: "Break down the time",
    scope: "read",
    description:
      "Time by span name within a window, the most own time first: wall, own (without children), GPU, quantiles of one " +
      "span, share of the window. By name_rank it tells ranks apart, which shows stragglers.",
  },
  { run: runInput, ...windowInput, by: Type.Optional(word(["name", "name_rank"])), ...pageInput },
  async (api, { run, by, limit, cursor, ...window }) => {
    const { rows } = await api.call("spanSummary", {
      params: { id: run },
      query: given({ by, ...readWindow(window) }),
    });
    const own = (row: SpanSummaryRow) => Number(row.self_ns ?? row.wall_ns);
    const page = pageOf(rows.toSorted((a, b) => own(b) - own(a)).map(toRow), cursor, limit);
    const first = page.rows[0];
    const text =
      first === undefined
        ? "This run has no spans in the window."
        : `${count(rows.length, "name")}; most own time in ${first.name}: ${first.self_s ?? first.wall_s} s.`;
    return { text, data: { spans: page.rows, next: page.next } };
  },
);

function toRow(row: SpanSummaryRow) {
  return {
    name: row.name,
    ...given({ rank: row.rank ?? undefined }),
    count: row.count,
    wall_s: toSeconds(row.wall_ns),
    self_s: toSeconds(row.self_ns),
    ...given({ gpu_s: toSeconds(row.gpu_ns) ?? undefined }),
    p50_ms: toMs(row.p50_ns),
    p95_ms: toMs(row.p95_ns),
    max_ms: toMs(row.max_ns),
    share: round(row.share),
  };
}

export const getSpan = defineTool(
  {
    name: "get_span",
    title: "Get a span",
    scope: "read",
    description: "One span by its id, with attributes, marks and the spans above it.",
  },
  { run: runInput, span: Type.String({ minLength: 1, maxLength: 512 }) },
  async (api, { run, span: id }) => {
    const span = await api.call("span", { params: { id: run, span: id } });
    const wall = span.end_ns === null ? null : (BigInt(span.end_ns) - BigInt(span.start_ns)).toString();
    return {
      text: `${span.name}${wall === null ? " has not ended" : ` took ${toMs(wall)} ms`}.`,
      data: toSpan(span, wall),
    };
  },
);

function toSpan(span: SpanDetail, wall: string | null): Record<string, unknown> {
  return fitLists({
    id: span.id,
    name: span.name,
    ...given({ index: span.index ?? undefined, rank: span.rank ?? undefined }),
    start: toTime(span.start_ns),
    wall_ms: toMs(wall),
    cpu_ms: toMs(span.cpu_ns),
    gpu_ms: toMs(span.gpu_ns),
    memory_peak_bytes: span.memory_peak_bytes,
    attrs: cut(span.attrs, 3000),
    extra: cut(span.extra, 1000),
    ancestors: span.ancestors.toReversed(),
    children: span.children,
    marks: span.marks.map(({ name, kind, text, ts_ns }) => ({
      name,
      kind,
      value: cutAll(text, 200),
      time: toTime(ts_ns),
    })),
    mark_count: span.mark_count,
  });
}
