// Parameters, environment, source and metrics side by side; only what differs unless asked.

import { useState } from "react";
import type { CompareAnswer } from "#api/contract/compare.ts";
import type { Float } from "#api/contract/scalar.ts";
import { smallestOf } from "#base/extremes.ts";
import { MetricName, Name } from "../../part/name.tsx";
import { TablePanel } from "../../part/panel.tsx";
import { decimalsOfColumn, formatDecimals, formatFloat } from "../../text/format-number.ts";
import { useCompare } from "./use-comparison.ts";

const digits = 5;

export function DiffTables() {
  const { compare, look } = useCompare();
  const [all, setAll] = useState(false);
  const sections = [
    ["parameters", compare.params],
    ["environment", compare.env],
    ["source", compare.source],
  ] as const;
  return (
    <div className="stack">
      <label className="row">
        <input type="checkbox" checked={all} onChange={() => setAll(!all)} /> also what is the same
      </label>
      <section
        className="table-scroll panel"
        aria-label="Differences"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard.
        tabIndex={0}
      >
        <table className="table diff">
          <thead>
            <tr>
              <th />
              {compare.runs.map((run) => (
                <th key={run.id} title={run.id}>
                  <span className="row" style={{ gap: 6 }}>
                    <i className="swatch" style={{ background: look.colours.get(run.id) }} />
                    <Name>{run.name}</Name>
                  </span>
                </th>
              ))}
            </tr>
          </thead>
          {sections.map(([title, rows]) => {
            const shown = rows.filter((row) => all || row.differs);
            return (
              <tbody key={title}>
                <tr className="diff-section">
                  <td colSpan={compare.runs.length + 1}>
                    {title} <span className="muted">{shown.length === 0 ? "the same in all" : ""}</span>
                  </td>
                </tr>
                {shown.map((row) => (
                  <tr key={row.name}>
                    <td className="muted">
                      <span className="row">
                        <Name>{row.name}</Name>
                      </span>
                    </td>
                    {compare.runs.map((run, i) => (
                      <td key={run.id} className={row.differs ? "differs" : ""}>
                        <code>{row.values[i] ?? <span className="muted">–</span>}</code>
                      </td>
                    ))}
                  </tr>
                ))}
              </tbody>
            );
          })}
          <tbody>
            <tr className="diff-section">
              <td colSpan={compare.runs.length + 1}>last metrics</td>
            </tr>
            {compare.metrics.map((row) => {
              const best = /loss|error|perplexity/.test(row.key) ? smallestOf(finite(row.last)) : Number.NaN;
              const decimals = decimalsOfColumn(finite(row.last), digits);
              return (
                <tr key={`${row.phase} ${row.key}`}>
                  <td className="muted">
                    <span className="row">
                      <MetricName metric={row} />
                    </span>
                  </td>
                  {compare.runs.map((run, i) => (
                    <td
                      key={run.id}
                      className={row.last[i] === best ? "best" : ""}
                      title={`min ${formatFloat(row.min[i])}, max ${formatFloat(row.max[i])}`}
                    >
                      {lastText(row.last[i], decimals)}
                      {(row.nonfinite[i] ?? 0) > 0 ? <span className="status-warn"> ✕{row.nonfinite[i]}</span> : null}
                    </td>
                  ))}
                </tr>
              );
            })}
          </tbody>
        </table>
      </section>
      <Divergence compare={compare} />
    </div>
  );
}

/** As many decimals as the others of its row, so that they are read as one kind of number. */
function lastText(value: Float | null | undefined, decimals: number | null): string {
  return decimals !== null && typeof value === "number" ? formatDecimals(value, decimals) : formatFloat(value, digits);
}

function finite(values: CompareAnswer["metrics"][number]["last"]): number[] {
  return values.filter((value): value is number => typeof value === "number");
}

function Divergence({ compare }: { readonly compare: CompareAnswer }) {
  const names = new Map(compare.runs.map((run) => [run.id, run.name]));
  return (
    <TablePanel
      title={`where they leave ${compare.runs[0]?.name}`}
      label="Point of divergence"
      rows={compare.divergence}
      keyOf={(row) => `${row.key} ${row.phase} ${row.run}`}
      columns={[
        { cell: (row) => names.get(row.run) ?? row.run },
        { cell: (row) => <MetricName metric={row} />, look: "muted" },
        {
          cell: ({ step, value, reference }) =>
            step === null
              ? "never beyond noise"
              : `step ${step}: ${formatFloat(value)} against ${formatFloat(reference)}`,
        },
      ]}
    />
  );
}
