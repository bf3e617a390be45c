// The panels of a run in groups: all of one width, closed and opened by group, pinned ones in front.

import { useMemo, useRef } from "react";
import type { Axis } from "#api/contract/series.ts";
import { useSetSearch } from "../../app/url-choice.ts";
import { type MetricGroup, type MetricPanel, panelId } from "../../chart/metric-groups.ts";
import type { PlotChoices } from "../../chart/plot-model.ts";
import type { YBounds } from "../../chart/scale.ts";
import { Icon } from "../../part/icon.tsx";
import { Empty } from "../../part/notice.tsx";
import { toggled } from "../../part/toggled.ts";
import { useSeen } from "../../part/use-seen.ts";
import { useSize } from "../../part/use-size.ts";
import { ChartPanel } from "./panel.tsx";
import { columnsFor, formatRanges, moveInList, withRange } from "./panel-layout.ts";
import { useChartEvents } from "./use-chart-events.ts";
import { useLiveTail } from "./use-panel-series.ts";

export const panelSizes = ["small", "medium", "large"] as const;
export type PanelSize = (typeof panelSizes)[number];

const sizes: Readonly<Record<PanelSize, { readonly width: number; readonly height: number }>> = {
  small: { width: 250, height: 120 },
  medium: { width: 330, height: 180 },
  large: { width: 560, height: 300 },
};
const gapPx = 12;
/** Left and right of all panels. */
const paddingPx = 32;
const expandedHeight = 460;
/** The title row and the border. */
const headPx = 32;

export interface PanelGroupsProps {
  readonly groups: readonly MetricGroup[];
  readonly axis: Axis;
  readonly choices: PlotChoices;
  readonly byWorker: boolean;
  readonly size: PanelSize;
  /** The panel shown large, as `panelId` names it. */
  readonly expanded: string | null;
  /** Names of groups that show their heading only. */
  readonly closed: readonly string[];
  /** Panels that stand in front, in this order. */
  readonly pinned: readonly string[];
  /** Ranges of y axes that were set by hand, by panel. */
  readonly ranges: ReadonlyMap<string, YBounds>;
}

export function PanelGroups(props: PanelGroupsProps) {
  const { groups, closed, pinned } = props;
  const setSearch = useSetSearch();
  const host = useRef<HTMLDivElement>(null);
  const { width } = useSize(host);
  const isMeasured = width > 0;
  const live = useLiveTail();
  const events = useChartEvents();
  const shown = useMemo(() => withPinned(groups, pinned), [groups, pinned]);
  const open = shown.filter(({ name }) => !closed.includes(name)).map(({ panels }) => panels.length);
  const columns = columnsFor(width - paddingPx, sizes[props.size].width, gapPx, open);
  if (groups.length === 0) return <Empty title="No metric matches." />;
  return (
    <div ref={host} className="chart-groups" style={{ "--columns": columns } as React.CSSProperties}>
      {(isMeasured ? shown : []).map((group) => {
        const isClosed = closed.includes(group.name);
        const span = isClosed || props.expanded !== null ? columns : Math.min(columns, group.panels.length);
        return (
          <section
            key={group.name}
            className="chart-group"
            aria-label={titleOf(group)}
            style={{ "--span": span } as React.CSSProperties}
          >
            <h2>
              <button
                type="button"
                className="grid-sort"
                aria-expanded={!isClosed}
                onClick={() => setSearch({ closed: toggled(closed, group.name) })}
              >
                <Icon name={isClosed ? "right" : "down"} size={12} />
                {titleOf(group)} <span className="muted">{group.panels.length}</span>
              </button>
            </h2>
            {isClosed ? null : (
              <div className="chart-grid">
                {group.panels.map((panel) => (
                  <PlacedPanel
                    key={panelId(panel.key, panel.phase)}
                    {...props}
                    panel={panel}
                    live={live}
                    events={events}
                  />
                ))}
              </div>
            )}
          </section>
        );
      })}
    </div>
  );
}

type PlacedPanelProps = PanelGroupsProps & {
  readonly panel: MetricPanel;
  readonly live: ReturnType<typeof useLiveTail>;
  readonly events: ReturnType<typeof useChartEvents>;
};

/** Of hundreds of panels only those that have come near the screen are made; the others keep their place. */
function PlacedPanel(props: PlacedPanelProps) {
  const host = useRef<HTMLDivElement>(null);
  const open = props.expanded === panelId(props.panel.key, props.panel.phase);
  const seen = useSeen(host) || open;
  return (
    <div
      ref={host}
      className={`panel-place ${open ? "expanded" : ""}`}
      style={seen ? undefined : { height: sizes[props.size].height + headPx }}
    >
      {seen ? <MadePanel {...props} /> : null}
    </div>
  );
}

function MadePanel({ panel, live, events, ...props }: PlacedPanelProps) {
  const setSearch = useSetSearch();
  const id = panelId(panel.key, panel.phase);
  const open = props.expanded === id;
  const isPinned = props.pinned.includes(id);
  const bounds = props.ranges.get(id) ?? null;
  const choices = useMemo(() => ({ ...props.choices, bounds }), [props.choices, bounds]);
  return (
    <ChartPanel
      panel={panel}
      axis={props.axis}
      choices={choices}
      byWorker={props.byWorker}
      events={events}
      tail={live.tail}
      version={live.version}
      height={open ? expandedHeight : sizes[props.size].height}
      expanded={open}
      onExpand={() => setSearch({ panel: open ? undefined : id })}
      pinned={isPinned}
      onPin={() => setSearch({ pinned: toggled(props.pinned, id) })}
      {...(isPinned && props.pinned.length > 1
        ? { onMove: (by: -1 | 1) => setSearch({ pinned: moveInList(props.pinned, id, by) }) }
        : {})}
      onRange={(next) => setSearch({ range: formatRanges(withRange(props.ranges, id, next)) })}
    />
  );
}

const pinnedName = "pinned";

/** Pinned panels move into a group of their own, in the order in which they were pinned. */
function withPinned(groups: readonly MetricGroup[], pinned: readonly string[]): readonly MetricGroup[] {
  if (pinned.length === 0) return groups;
  const isPinned = (panel: MetricPanel) => pinned.includes(panelId(panel.key, panel.phase));
  const place = (panel: MetricPanel) => pinned.indexOf(panelId(panel.key, panel.phase));
  const front = groups.flatMap((group) => group.panels.filter(isPinned)).sort((a, b) => place(a) - place(b));
  const rest = groups.map((group) => ({ ...group, panels: group.panels.filter((panel) => !isPinned(panel)) }));
  return [{ name: pinnedName, panels: front }, ...rest].filter((group) => group.panels.length > 0);
}

function titleOf({ name }: MetricGroup): string {
  return name === "" ? "other" : name;
}
