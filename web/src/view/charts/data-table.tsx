// A panel's numbers as a table: for those who cannot see the curve, and for those who want to read it exactly.

import type { Axis } from "#api/contract/series.ts";
import type { PlotSeries } from "../../chart/plot-data.ts";
import { Table } from "../../part/table.tsx";
import { formatFloat, formatNumber } from "../../text/format-number.ts";
import { placeText } from "./panel-text.ts";

const rowsMax = 2_000;

interface Point {
  readonly each: PlotSeries;
  readonly row: number;
}

interface DataTableProps {
  readonly series: readonly PlotSeries[];
  readonly axis: Axis;
  readonly name: string;
  readonly height: number;
}

export function DataTable({ series, axis, name, height }: DataTableProps) {
  const split = series.length > 1;
  const rows = series.flatMap((each) => each.x.map((_, row): Point => ({ each, row })));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard.
    <section className="scroll chart-table" style={{ height }} tabIndex={0} aria-label={`Points of ${name}`}>
      <Table
        rows={rows.slice(0, rowsMax)}
        keyOf={({ each, row }) => `${each.worker} ${each.x[row]} ${row}`}
        columns={[
          ...(split ? [{ head: "worker", cell: ({ each }: Point) => each.worker }] : []),
          { head: axis, cell: ({ each, row }) => placeText(each, row, axis), look: "one-line" },
          { head: "value", cell: ({ each, row }) => formatFloat(each.line[row], 6), look: "num" },
          { head: "min", cell: ({ each, row }) => formatFloat(each.min[row], 6), look: "num" },
          { head: "max", cell: ({ each, row }) => formatFloat(each.max[row], 6), look: "num" },
          { head: "points", cell: ({ each, row }) => formatNumber(each.count[row] ?? 1), look: "num" },
          {
            head: "not finite",
            cell: ({ each, row }) => (each.nan[row] ?? 0) + (each.posInf[row] ?? 0) + (each.negInf[row] ?? 0) || "",
            look: "num",
          },
        ]}
      />
      {rows.length > rowsMax ? (
        <p className="muted">{rows.length - rowsMax} more rows; copy the data for all.</p>
      ) : null}
    </section>
  );
}
