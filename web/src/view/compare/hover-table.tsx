// All runs at the position under the pointer, sorted by value, with the distance to the run they are measured by.

import { Name } from "../../part/name.tsx";
import { formatNumber } from "../../text/format-number.ts";
import { useHover } from "./hover.ts";
import { colourOf, useCompare } from "./use-comparison.ts";

export function HoverTable() {
  const { compare, look } = useCompare();
  const hover = useHover();
  const names = new Map(compare.runs.map((run) => [run.id, run.name]));
  const base = hover?.rows.find((row) => row.run === compare.runs[0]?.id)?.value ?? null;
  return (
    <section className={`hover-table ${hover === null ? "wide-only" : ""}`} aria-label="Values under the pointer">
      {hover === null ? (
        <p className="muted">Point at a chart to read all runs there, sorted by value.</p>
      ) : (
        <>
          <h2 aria-label={`${hover.title} at ${hover.at}`}>
            <Name>{hover.title}</Name> <span className="muted">at {hover.at}</span>
          </h2>
          <table>
            <tbody>
              {hover.rows.map(({ run, value, nan }) => (
                <tr key={run}>
                  <td>
                    <i className="swatch" style={{ background: colourOf(run, look) }} />
                  </td>
                  <td className="hover-name">
                    <Name>{names.get(run) ?? run}</Name>
                  </td>
                  <td className="num">{nan ? "NaN" : value === null ? "–" : formatNumber(value, 5)}</td>
                  <td className="num muted">{difference(value, base, run === compare.runs[0]?.id)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </>
      )}
    </section>
  );
}

function difference(value: number | null, base: number | null, isBase: boolean): string {
  if (value === null || base === null || isBase) return "";
  const by = value - base;
  return `${by < 0 ? "−" : "+"}${formatNumber(Math.abs(by), 3)}`;
}
