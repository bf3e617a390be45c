// A panel's numbers as a table: for those who cannot see the curve, and for those who want to read it exactly.

import type { Axis } from "#api/contract/series.ts";
import type { PlotSeries } from "../../chart/plot-data.ts";
import { formatFloat, formatNumber } from "../../text/format-number.ts";
import { placeText } from "./panel-text.ts";

const rowsMax = 2_000;

export function DataTable({
  series,
  axis,
  name,
  height,
}: {
  readonly series: readonly PlotSeries[];
  readonly axis: Axis;
  readonly name: string;
  readonly height: number;
}) {
  const split = series.length > 1;
  const rows = series.flatMap((each) => each.x.map((_, row) => ({ each, row })));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard.
    <section className="scroll chart-table" style={{ height }} tabIndex={0} aria-label={`Points of ${name}`}>
      <table className="table">
        <thead>
          <tr>
            {split ? <th>worker</th> : null}
            <th>{axis}</th>
            <th className="num">value</th>
            <th className="num">min</th>
            <th className="num">max</th>
            <th className="num">points</th>
            <th className="num">not finite</th>
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, rowsMax).map(({ each, row }) => {
            const odd = (each.nan[row] ?? 0) + (each.posInf[row] ?? 0) + (each.negInf[row] ?? 0);
            return (
              <tr key={`${each.worker} ${each.x[row]} ${row}`}>
                {split ? <td>{each.worker}</td> : null}
                <td>{placeText(each, row, axis)}</td>
                <td className="num">{formatFloat(each.line[row], 6)}</td>
                <td className="num">{formatFloat(each.min[row], 6)}</td>
                <td className="num">{formatFloat(each.max[row], 6)}</td>
                <td className="num">{formatNumber(each.count[row] ?? 1)}</td>
                <td className="num">{odd === 0 ? "" : odd}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {rows.length > rowsMax ? (
        <p className="muted">{rows.length - rowsMax} more rows; copy the data for all.</p>
      ) : null}
    </section>
  );
}
