// The title row of a panel: its name, what the axis does not show, small actions, and the value under the cursor.

import { type RefObject, useMemo } from "react";
import type { PlotSeries } from "../../chart/plot-data.ts";
import { outsideOf, toTsv } from "../../chart/plot-model.ts";
import { Button } from "../../part/button.tsx";
import { CopyButton } from "../../part/copy.tsx";
import type { IconName } from "../../part/icon.tsx";
import { Name } from "../../part/name.tsx";
import type { PanelProps } from "./panel.tsx";
import { lastText } from "./panel-text.ts";
import { RangeButton } from "./range-button.tsx";

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
      <Tools {...props} />
      <span className="grow" />
      <span ref={props.readout} className="readout" aria-live="off">
        {lastText(series, panel)}
      </span>
    </header>
  );
}

function Tools(props: PanelHeadProps) {
  const { name, series, table, expanded, onTable, onSave, onExpand, onRange } = props;
  return (
    <span className="chart-tools no-print">
      <CopyButton text={() => toTsv(series)} label="copy the data" />
      <Tool icon="runs" label={`${name} as a table`} pressed={table} onClick={onTable} />
      <Tool icon="image" label={`Save ${name} as an image`} onClick={onSave} />
      {onRange === undefined ? null : (
        <RangeButton name={name} bounds={props.choices.bounds ?? null} onChange={onRange} />
      )}
      <PlaceTools {...props} />
      {onExpand === undefined ? null : (
        <Tool
          icon="expand"
          label={expanded ? `Shrink ${name}` : `Expand ${name}`}
          pressed={expanded}
          onClick={onExpand}
        />
      )}
    </span>
  );
}

/** In front, and where among those in front. */
function PlaceTools({ name, pinned = false, onPin, onMove }: PanelHeadProps) {
  return (
    <>
      {onMove === undefined ? null : (
        <>
          <Tool icon="left" label={`Move ${name} to the front`} onClick={() => onMove(-1)} />
          <Tool icon="right" label={`Move ${name} to the back`} onClick={() => onMove(1)} />
        </>
      )}
      {onPin === undefined ? null : (
        <Tool
          icon="pin"
          label={pinned ? `Put ${name} back` : `Put ${name} in front`}
          pressed={pinned}
          onClick={onPin}
        />
      )}
    </>
  );
}

interface ToolProps {
  readonly icon: IconName;
  readonly label: string;
  readonly pressed?: boolean;
  readonly onClick: () => void;
}

function Tool({ icon, label, pressed, onClick }: ToolProps) {
  return (
    <Button
      look="quiet small icon"
      icon={icon}
      aria-label={label}
      title={label}
      aria-pressed={pressed}
      onClick={onClick}
    />
  );
}
