// The rows of an answer, and a quick chart of them.

import { useVirtualizer } from "@tanstack/react-virtual";
import { useMemo, useRef } from "react";
import type { SqlAnswer } from "#api/contract/sql.ts";
import { useTheme } from "../../app/theme.ts";
import { paletteColour } from "../../chart/colour.ts";
import { Plot } from "../../chart/plot.tsx";
import { toPointSeries } from "../../chart/plot-data.ts";
import { plainChoices } from "../../chart/plot-model.ts";
import { Empty } from "../../part/notice.tsx";
import { RunLink } from "../../part/run-link.tsx";
import { chartColumns } from "./sql-complete.ts";

export function SqlTable({ answer }: { readonly answer: SqlAnswer }) {
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: answer.rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 28,
    overscan: 20,
  });
  const items = virtual.getVirtualItems();
  const before = items[0]?.start ?? 0;
  const after = virtual.getTotalSize() - (items.at(-1)?.end ?? 0);
  if (answer.rows.length === 0) return <Empty title="No rows." />;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard.
    <section className="scroll" ref={scroller} aria-label="Result" tabIndex={0}>
      <table className="table">
        <thead>
          <tr>
            {answer.columns.map((column) => (
              <th key={column.name} className={isNumber(column.type) ? "num" : ""}>
                {column.name} <span className="muted">{column.type}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {before > 0 ? (
            <tr>
              <td style={{ height: before }} />
            </tr>
          ) : null}
          {items.map((item) => (
            <tr key={item.key}>
              {answer.columns.map((column, i) => (
                <td key={column.name} className={`${isNumber(column.type) ? "num" : ""} mono sql-cell`}>
                  <Value value={answer.rows[item.index]?.[i]} isRun={runColumns.has(column.name)} />
                </td>
              ))}
            </tr>
          ))}
          {after > 0 ? (
            <tr>
              <td style={{ height: after }} />
            </tr>
          ) : null}
        </tbody>
      </table>
    </section>
  );
}

/** Columns whose values are ids of runs, in the tables of every protocol. */
const runColumns: ReadonlySet<string> = new Set(["run_id", "runId", "run"]);

function Value({ value, isRun }: { readonly value: unknown; readonly isRun: boolean }) {
  if (value === null || value === undefined) return <span className="muted">null</span>;
  if (isRun && typeof value === "string" && value !== "") return <RunLink id={value} look="clip" />;
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  return (
    <span className="clip" title={text}>
      {text}
    </span>
  );
}

function isNumber(type: string): boolean {
  return /^(Nullable\()?(U?Int|Float|Decimal)/.test(type);
}

export function SqlChart({ answer }: { readonly answer: SqlAnswer }) {
  const theme = useTheme();
  const chart = chartColumns(answer.columns);
  const series = useMemo(() => {
    if (chart === null) return [];
    const rows = [...answer.rows].sort((a, b) => Number(a[chart.x]) - Number(b[chart.x]));
    const x = rows.map((row) => Number(row[chart.x]));
    return chart.ys.map((y) => {
      const values = rows.map((row) => (row[y] === null ? null : Number(row[y])));
      return toPointSeries(answer.columns[y]?.name ?? "", x, values);
    });
  }, [answer, chart]);
  const colours = useMemo(() => series.map((_, i) => paletteColour(i, theme)), [series, theme]);
  if (chart === null) return <Empty title="A chart needs two columns of numbers." />;
  return (
    <div className="panel-body">
      <p className="muted">
        {series.map((each, i) => (
          <span key={each.key} className="badge" style={{ marginRight: 12 }}>
            <i className="swatch" style={{ background: colours[i] }} /> {each.key}
          </span>
        ))}
        over {answer.columns[chart.x]?.name}
      </p>
      <Plot
        id="sql"
        series={series}
        axis="step"
        choices={plainChoices}
        colours={colours}
        theme={theme}
        height={360}
        startMs={0}
        label="Chart of the result"
      />
    </div>
  );
}
