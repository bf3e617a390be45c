// Where the time of the visible window went, by span name.

import { useState } from "react";
import type { SpanSummaryRow } from "#api/contract/span.ts";
import { largestOf } from "#base/extremes.ts";
import { useTheme } from "../../app/theme.ts";
import { spanColour } from "../../chart/span-colours.ts";
import { useRunClock } from "../../clock/run-clock.tsx";
import { useApi } from "../../data/use-api.ts";
import { Answer } from "../../part/notice.tsx";
import { formatCount, formatPercent } from "../../text/format-number.ts";
import { formatDuration } from "../../text/format-time.ts";

type Column = "name" | "count" | "wall_ns" | "self_ns" | "gpu_ns" | "p50_ns" | "p95_ns" | "max_ns" | "share";
const columns: readonly (readonly [Column, string])[] = [
  ["name", "name"],
  ["count", "count"],
  ["wall_ns", "wall"],
  ["self_ns", "self"],
  ["gpu_ns", "GPU"],
  ["p50_ns", "p50"],
  ["p95_ns", "p95"],
  ["max_ns", "max"],
  ["share", "share of window"],
];

export function SummaryTable({ onName }: { readonly onName: (name: string) => void }) {
  const { run, query } = useRunClock();
  const summary = useApi("spanSummary", { params: { id: run.id }, query }, { keep: true });
  const [sort, setSort] = useState<Column>("wall_ns");
  const theme = useTheme();
  return (
    <Answer of={summary} rows={4}>
      {(data) => {
        const rows = [...data.rows].sort((a, b) =>
          sort === "name" ? a.name.localeCompare(b.name) : size(b, sort) - size(a, sort),
        );
        const widest = largestOf([1e-9, ...rows.map((row) => row.share)]);
        return (
          <table className="table">
            <caption className="hidden-text">Time by span name in the window</caption>
            <thead>
              <tr>
                {columns.map(([column, word]) => (
                  <th
                    key={column}
                    className={column === "name" || column === "share" ? "" : "num"}
                    aria-sort={sort === column ? "descending" : "none"}
                  >
                    <button type="button" className="grid-sort" onClick={() => setSort(column)}>
                      {word}
                    </button>
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <tr key={`${row.name} ${row.rank}`}>
                  <td>
                    <button type="button" className="grid-sort" onClick={() => onName(row.name)} title="highlight">
                      <i className="swatch" style={{ background: spanColour(run.id, row.name, theme) }} />
                      {row.name}
                    </button>
                  </td>
                  <td className="num">{formatCount(row.count)}</td>
                  <Time ns={row.wall_ns} />
                  <Time ns={row.self_ns} />
                  <Time ns={row.gpu_ns} />
                  <Time ns={row.p50_ns} />
                  <Time ns={row.p95_ns} />
                  <Time ns={row.max_ns} />
                  <td>
                    <span className="row">
                      <span className="meter share-meter">
                        <i
                          style={{
                            width: `${(row.share / widest) * 100}%`,
                            background: spanColour(run.id, row.name, theme),
                          }}
                        />
                      </span>
                      {formatPercent(row.share)}
                    </span>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        );
      }}
    </Answer>
  );
}

function Time({ ns }: { readonly ns: string | null }) {
  return <td className="num">{ns === null ? <span className="muted">–</span> : formatDuration(Number(ns))}</td>;
}

function size(row: SpanSummaryRow, column: Exclude<Column, "name">): number {
  return Number(row[column] ?? -1);
}
