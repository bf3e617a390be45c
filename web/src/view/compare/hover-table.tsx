// All runs at the position under the pointer, sorted by value, with the distance to the run they are measured by.

import type { CompareAnswer } from "#api/contract/compare.ts";
import { Name } from "../../part/name.tsx";
import { formatNumber } from "../../text/format-number.ts";
import { useHover } from "./hover.ts";
import type { Look } from "./use-comparison.ts";

export function HoverTable({ compare, look }: { readonly compare: CompareAnswer; readonly look: Look }) {
  const hover = useHover();
  const names = new Map(compare.runs.map((run) => [run.id, run.name]));
  const groups = new Map(look.groups?.map((group) => [group.text, group.colour]));
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
                    <i className="swatch" style={{ background: groups.get(run) ?? look.colours.get(run) }} />
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
