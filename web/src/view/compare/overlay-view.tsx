// The same metric of all runs in one panel.

import { useEffect, useMemo } from "react";
import { useUrlChoice } from "../../app/url-choice.ts";
import { matchText, panelId } from "../../chart/metric-groups.ts";
import { Empty } from "../../part/notice.tsx";
import "../charts/charts.css";
import { PlotControls, usePlotChoices } from "../charts/plot-choices.tsx";
import { type OverlayAxis, OverlayPanel } from "./overlay-panel.tsx";
import { useCompare } from "./use-comparison.ts";

const axes = ["step", "epoch", "relative"] as const;

export function OverlayView() {
  const { compare, search, alone, onDrawn } = useCompare();
  const [axis, setAxis] = useUrlChoice<OverlayAxis>("axis", "compare-axis", "step", axes);
  const view = usePlotChoices();
  const { find = "" } = search;
  const matches = matchText(find);
  const hidden = useMemo(
    () => new Set(alone === null ? search.hide : compare.runs.flatMap(({ id }) => (id === alone ? [] : [id]))),
    [alone, search.hide, compare.runs],
  );
  const shown = compare.metrics
    .filter((metric) => matches(`${metric.phase} ${metric.key}`))
    .sort((a, b) => Number(/loss/.test(b.key)) - Number(/loss/.test(a.key)) || present(b.last) - present(a.last));
  const isEmpty = shown.length === 0;
  useEffect(() => {
    if (isEmpty) onDrawn();
  }, [isEmpty, onDrawn]);
  return (
    <div className="stack">
      <div className="row wrap">
        <PlotControls view={{ ...view, axis, setAxis }} axes={axes} find={find} />
      </div>
      {isEmpty ? (
        <Empty title={compare.metrics.length === 0 ? "None of these runs has metrics." : "No metric matches."} />
      ) : (
        <div className="chart-grid">
          {shown.map((metric) => (
            <OverlayPanel key={panelId(metric)} metric={metric} axis={axis} choices={view.choices} hidden={hidden} />
          ))}
        </div>
      )}
    </div>
  );
}

function present(values: readonly unknown[]): number {
  return values.filter((value) => value !== null).length;
}
