// Where the time of the visible window went, by span name.

import { useState } from "react";
import type { SpanSummaryRow } from "#api/contract/span.ts";
import { largestOf } from "#base/extremes.ts";
import { useTheme } from "../../app/theme.ts";
import { spanColour } from "../../chart/span-colours.ts";
import { useRunApi, useRunClock } from "../../clock/run-clock.tsx";
import { Answer } from "../../part/notice.tsx";
import { Table } from "../../part/table.tsx";
import { formatCount, formatPercent } from "../../text/format-number.ts";
import { formatDuration } from "../../text/format-time.ts";

type Order = "name" | "count" | "wall_ns" | "self_ns" | "gpu_ns" | "p50_ns" | "p95_ns" | "max_ns" | "share";
const times = [
  ["wall_ns", "wall"],
  ["self_ns", "self"],
  ["gpu_ns", "GPU"],
  ["p50_ns", "p50"],
  ["p95_ns", "p95"],
  ["max_ns", "max"],
] as const;

export function SummaryTable({ onName }: { readonly onName: (name: string) => void }) {
  const { run, query } = useRunClock();
  const summary = useRunApi("spanSummary", { query }, { keep: true });
  const [sort, setSort] = useState<Order>("wall_ns");
  const theme = useTheme();
  const headOf = (order: Order, word: string) => ({
    sorted: sort === order,
    head: (
      <button type="button" className="grid-sort" onClick={() => setSort(order)}>
        {word}
      </button>
    ),
  });
  return (
    <Answer of={summary} rows={4}>
      {(data) => {
        const rows = [...data.rows].sort((a, b) =>
          sort === "name" ? a.name.localeCompare(b.name) : size(b, sort) - size(a, sort),
        );
        const widest = largestOf([1e-9, ...rows.map((row) => row.share)]);
        return (
          <Table
            look={summary.isPlaceholderData ? "outdated" : ""}
            label="Time by span name in the window"
            rows={rows}
            keyOf={(row) => `${row.name} ${row.rank}`}
            columns={[
              {
                ...headOf("name", "name"),
                cell: ({ name }) => (
                  <button type="button" className="grid-sort" onClick={() => onName(name)} title="highlight">
                    <i className="swatch" style={{ background: spanColour(run.id, name, theme) }} />
                    {name}
                  </button>
                ),
              },
              { ...headOf("count", "count"), cell: (row) => formatCount(row.count), look: "num" },
              ...times.map(([order, word]) => ({
                ...headOf(order, word),
                cell: (row: SpanSummaryRow) => timeText(row[order]),
                look: "num",
              })),
              {
                ...headOf("share", "share of window"),
                cell: ({ name, share }) => (
                  <span className="row">
                    <span className="meter share-meter">
                      <i style={{ width: `${(share / widest) * 100}%`, background: spanColour(run.id, name, theme) }} />
                    </span>
                    {formatPercent(share)}
                  </span>
                ),
              },
            ]}
          />
        );
      }}
    </Answer>
  );
}

function timeText(ns: string | null) {
  return ns === null ? <span className="muted">–</span> : formatDuration(Number(ns));
}

function size(row: SpanSummaryRow, order: Exclude<Order, "name">): number {
  return Number(row[order] ?? -1);
}
