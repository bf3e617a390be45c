// Where the time went, by span name, run against run.

import { useState } from "react";
import { largestOf } from "#base/extremes.ts";
import { Select } from "../../part/field.tsx";
import { Empty } from "../../part/notice.tsx";
import { Table } from "../../part/table.tsx";
import { formatDuration } from "../../text/format-time.ts";
import { useCompare } from "./use-comparison.ts";

const columns = [
  ["wall_ns", "wall time"],
  ["gpu_ns", "GPU time"],
  ["p50_ns", "median of one span"],
] as const;
type Column = (typeof columns)[number][0];

export function TimeView() {
  const { compare, look } = useCompare();
  const [column, setColumn] = useState<Column>("wall_ns");
  const rows = [...compare.spans].sort((a, b) => largest(b[column]) - largest(a[column]));
  const widest = largestOf([1, ...rows.map((row) => largest(row[column]))]);
  if (rows.length === 0) return <Empty title="None of these runs has spans." />;
  const places = [...compare.runs.keys()].filter((i) => rows.some(({ wall_ns }) => (wall_ns[i] ?? null) !== null));
  const others = compare.runs.filter((_, i) => !places.includes(i)).map(({ name }) => name);
  return (
    <div className="stack">
      <Select caption="show" value={column} options={columns} onChange={setColumn} />
      <Table
        look="panel"
        rows={rows}
        keyOf={(row) => row.name}
        columns={[
          { head: "span", cell: (row) => row.name },
          {
            head: "time",
            width: "60%",
            cell: (row) =>
              places.map((i) => {
                const run = compare.runs[i];
                const ns = Number(row[column][i] ?? 0);
                return (
                  <div key={i} className="row" title={run?.name} style={{ height: 16 }}>
                    <span
                      style={{
                        width: `${(ns / widest) * 70}%`,
                        minWidth: ns > 0 ? 2 : 0,
                        height: 8,
                        background: look.colours.get(run?.id ?? ""),
                        borderRadius: 2,
                      }}
                    />
                    <span className="muted" style={{ fontSize: 11 }}>
                      {row[column][i] === null ? "–" : formatDuration(ns)}
                    </span>
                  </div>
                );
              }),
          },
          {
            head: `against ${compare.runs[0]?.name}`,
            cell: (row) =>
              places.map((i) => (
                <div key={i} style={{ height: 16, fontSize: 11 }}>
                  {i === 0 ? "" : difference(row[column][0] ?? null, row[column][i] ?? null)}
                </div>
              )),
            look: "num",
          },
        ]}
      />
      {others.length === 0 ? null : <p className="muted">without spans: {others.join(", ")}</p>}
    </div>
  );
}

function largest(values: readonly (string | null)[]): number {
  return largestOf([0, ...values.map((value) => Number(value ?? 0))]);
}

function difference(reference: string | null, value: string | null): string {
  if (reference === null || value === null) return "–";
  const [base, by] = [Number(reference), Number(value) - Number(reference)];
  const share = base === 0 ? "" : ` (${by >= 0 ? "+" : "−"}${Math.abs((by / base) * 100).toFixed(0)} %)`;
  return `${by >= 0 ? "+" : ""}${formatDuration(by)}${share}`;
}
