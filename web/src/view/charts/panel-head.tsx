// The title row of a panel: its name, what the axis does not show, small actions, and the value under the cursor.

import { type RefObject, useMemo } from "react";
import type { PlotSeries } from "../../chart/plot-data.ts";
import { outsideOf, toTsv } from "../../chart/plot-model.ts";
import { IconButton } from "../../part/button.tsx";
import { CopyButton } from "../../part/copy.tsx";
import { Name } from "../../part/name.tsx";
import type { PanelProps } from "./panel.tsx";
import { lastText } from "./panel-text.ts";

export interface PanelHeadProps extends PanelProps {
  readonly name: string;
  readonly series: readonly PlotSeries[];
  /** The points were sent without a position on the axis that was asked for. */
  readonly isOverTime: boolean;
  readonly table: boolean;
  readonly onTable: () => void;
  readonly onSave: () => void;
  /** Why the newest answer did not come; what is drawn is then older. */
  readonly problem: Error | null;
  readonly readout: RefObject<HTMLSpanElement | null>;
}

export function PanelHead(props: PanelHeadProps) {
  const { panel, series, choices, problem } = props;
  const outside = useMemo(() => outsideOf(series, choices), [series, choices]);
  return (
    <header className="row chart-head">
      <h3 title={props.name} aria-label={props.name}>
        <Name>{panel.label}</Name>
      </h3>
      {!props.isOverTime || series.length === 0 ? null : (
        <span className="muted" title={`these points were sent without ${props.axis}`}>
          over time
        </span>
      )}
      {outside === "" ? null : (
        <span className="status-warn" title="values outside the axis">
          {outside}
        </span>
      )}
      {problem === null || series.length === 0 ? null : (
        <span className="status-warn" title={problem.message}>
          not up to date
        </span>
      )}
      <span className="chart-tools no-print">
        <CopyButton text={() => toTsv(series)} label="copy the data" />
        <IconButton icon="runs" label={`${props.name} as a table`} aria-pressed={props.table} onClick={props.onTable} />
        <IconButton icon="image" label={`Save ${props.name} as an image`} onClick={props.onSave} />
        {props.tools}
      </span>
      <span className="grow" />
      <span ref={props.readout} className="readout" aria-live="off">
        {lastText(series, panel)}
      </span>
    </header>
  );
}
