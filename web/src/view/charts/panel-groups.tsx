// The panels of a run in groups: all of one width, closed and opened by group, pinned ones in front.

import { useSearch } from "@tanstack/react-router";
import { useMemo, useRef, useState } from "react";
import type { Axis } from "#api/contract/series.ts";
import { asList, asText } from "../../app/search.ts";
import { useSetSearch } from "../../app/url-choice.ts";
import { type MetricGroup, type MetricPanel, panelId, panelTitle } from "../../chart/metric-groups.ts";
import type { PlotChoices } from "../../chart/plot-model.ts";
import type { YBounds } from "../../chart/scale.ts";
import { Button, IconButton } from "../../part/button.tsx";
import { Form, TextField } from "../../part/field.tsx";
import { Icon } from "../../part/icon.tsx";
import { Empty } from "../../part/notice.tsx";
import { useSeen, useSize } from "../../part/on-screen.ts";
import { Popover } from "../../part/popover.tsx";
import { toggled } from "../../part/toggled.ts";
import { ChartPanel } from "./panel.tsx";
import { columnsFor, formatRanges, isRange, moveInList, parseBound, parseRanges, withRange } from "./panel-layout.ts";
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

interface PanelGroupsProps {
  readonly groups: readonly MetricGroup[];
  readonly axis: Axis;
  readonly choices: PlotChoices;
  readonly byWorker: boolean;
  readonly size: PanelSize;
}

/** What was arranged by hand, as the address says it. */
function useArrangement() {
  const search = useSearch({ strict: false }) as Record<string, unknown>;
  const rangeText = (asList(search["range"]) ?? []).join("\n");
  return {
    /** The panel shown large, as `panelId` names it. */
    expanded: asText(search["panel"]),
    /** Names of groups that show their heading only. */
    closed: asList(search["closed"]) ?? [],
    /** Panels that stand in front, in this order. */
    pinned: asList(search["pinned"]) ?? [],
    /** Ranges of y axes, by panel. */
    ranges: useMemo(() => parseRanges(rangeText.split("\n")), [rangeText]),
  };
}

export function PanelGroups(props: PanelGroupsProps) {
  const { groups } = props;
  const arranged = useArrangement();
  const { closed, pinned, expanded } = arranged;
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
        const span = isClosed || expanded !== undefined ? columns : Math.min(columns, group.panels.length);
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
                  <PlacedPanel key={panelId(panel)} {...props} {...{ panel, arranged, live, events }} />
                ))}
              </div>
            )}
          </section>
        );
      })}
    </div>
  );
}

type PlacedPanelProps = Omit<PanelGroupsProps, "groups"> & {
  readonly panel: MetricPanel;
  readonly arranged: ReturnType<typeof useArrangement>;
  readonly live: ReturnType<typeof useLiveTail>;
  readonly events: ReturnType<typeof useChartEvents>;
};

/** Of hundreds of panels only those that have come near the screen are made; the others keep their place. */
function PlacedPanel({ panel, arranged, live, events, axis, byWorker, ...props }: PlacedPanelProps) {
  const host = useRef<HTMLDivElement>(null);
  const id = panelId(panel);
  const expanded = arranged.expanded === id;
  const seen = useSeen(host) || expanded;
  const bounds = arranged.ranges.get(id) ?? null;
  const choices = useMemo(() => ({ ...props.choices, bounds }), [props.choices, bounds]);
  const { height } = sizes[props.size];
  return (
    <div
      ref={host}
      className={`panel-place ${expanded ? "expanded" : ""}`}
      style={seen ? undefined : { height: height + headPx }}
    >
      {seen ? (
        <ChartPanel
          {...{ panel, axis, choices, byWorker, events, live, expanded }}
          height={expanded ? expandedHeight : height}
          tools={<PanelTools panel={panel} arranged={arranged} />}
        />
      ) : null}
    </div>
  );
}

/** Its range, its place in front, and its size. */
function PanelTools({ panel, arranged }: Pick<PlacedPanelProps, "panel" | "arranged">) {
  const setSearch = useSetSearch();
  const { expanded, pinned, ranges } = arranged;
  const id = panelId(panel);
  const name = panelTitle(panel);
  const isPinned = pinned.includes(id);
  const isExpanded = expanded === id;
  const move = (by: -1 | 1) => setSearch({ pinned: moveInList(pinned, id, by) });
  return (
    <>
      <RangeButton
        name={name}
        bounds={ranges.get(id) ?? null}
        onChange={(next) => setSearch({ range: formatRanges(withRange(ranges, id, next)) })}
      />
      {isPinned && pinned.length > 1 ? (
        <>
          <IconButton icon="left" label={`Move ${name} to the front`} onClick={() => move(-1)} />
          <IconButton icon="right" label={`Move ${name} to the back`} onClick={() => move(1)} />
        </>
      ) : null}
      <IconButton
        icon="pin"
        label={isPinned ? `Put ${name} back` : `Put ${name} in front`}
        aria-pressed={isPinned}
        onClick={() => setSearch({ pinned: toggled(pinned, id) })}
      />
      <IconButton
        icon="expand"
        label={isExpanded ? `Shrink ${name}` : `Expand ${name}`}
        aria-pressed={isExpanded}
        onClick={() => setSearch({ panel: isExpanded ? undefined : id })}
      />
    </>
  );
}

/** Pinned panels move into a group of their own, in the order in which they were pinned. */
function withPinned(groups: readonly MetricGroup[], pinned: readonly string[]): readonly MetricGroup[] {
  if (pinned.length === 0) return groups;
  const place = (panel: MetricPanel) => pinned.indexOf(panelId(panel));
  const front = groups.flatMap(({ panels }) => panels.filter((panel) => place(panel) >= 0));
  const rest = groups.map(({ name, panels }) => ({ name, panels: panels.filter((panel) => place(panel) < 0) }));
  const all = [{ name: "pinned", panels: front.sort((a, b) => place(a) - place(b)) }, ...rest];
  return all.filter((group) => group.panels.length > 0);
}

function titleOf({ name }: MetricGroup): string {
  return name === "" ? "other" : name;
}

interface RangeButtonProps {
  readonly name: string;
  /** Null while the data decides. */
  readonly bounds: YBounds | null;
  readonly onChange: (bounds: YBounds | null) => void;
}

/** The range of a panel's y axis, set by hand: two numbers, either of which may be left to the data. */
function RangeButton({ name, bounds, onChange }: RangeButtonProps) {
  const label = `Vertical range of ${name}`;
  return (
    <Popover label={label} trigger={<IconButton icon="range" label={label} aria-pressed={bounds !== null} />}>
      <RangeForm key={JSON.stringify(bounds)} bounds={bounds} onChange={onChange} />
    </Popover>
  );
}

function RangeForm({ bounds, onChange }: Omit<RangeButtonProps, "name">) {
  const [min, setMin] = useState(bounds?.min?.toString() ?? "");
  const [max, setMax] = useState(bounds?.max?.toString() ?? "");
  const wanted = { min: parseBound(min), max: parseBound(max) };
  return (
    <Form className="stack range-form" onSubmit={() => isRange(wanted) && onChange(wanted)}>
      {(
        [
          ["to", max, setMax],
          ["from", min, setMin],
        ] as const
      ).map(([word, value, set]) => (
        <label key={word} className="row">
          <span className="muted range-word">{word}</span>
          <TextField look="grow" inputMode="decimal" placeholder="as the data" value={value} onChange={set} />
        </label>
      ))}
      <div className="row">
        <Button disabled={bounds === null} onClick={() => onChange(null)}>
          all values
        </Button>
        <span className="grow" />
        <Button type="submit" look="primary" disabled={!isRange(wanted)}>
          set
        </Button>
      </div>
    </Form>
  );
}
