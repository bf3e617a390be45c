// The virtual table: only the rows on screen exist. Rows keep their place; more are fetched near the end.

import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useMemo, useRef, useState } from "react";
import type { RunSummary } from "#api/contract/run.ts";
import { useMore } from "../../data/use-pages.ts";
import { Button } from "../../part/button.tsx";
import { Icon } from "../../part/icon.tsx";
import { useSize } from "../../part/on-screen.ts";
import { toggled } from "../../part/toggled.ts";
import { countOf } from "../../text/format-number.ts";
import { type ColumnChoice, type GridColumn, layoutColumns, stickyStyle } from "./grid-columns.ts";
import { GridHead } from "./grid-head.tsx";
import { type ColumnFormat, formatsOfColumns, type GridRow, plainFormat, toGridRows } from "./grid-model.ts";
import { GroupCell, RunCell } from "./run-cells.tsx";
import { useKeptPlace } from "./use-kept-place.ts";
import { useRowKeys } from "./use-row-keys.ts";
import type { useRuns } from "./use-runs.ts";
import type { useSelection } from "./use-selection.ts";

const rowPx = 28;

export interface RunGridProps {
  readonly table: ReturnType<typeof useRuns>;
  readonly choice: ColumnChoice;
  readonly spark: string | undefined;
  readonly sort: readonly string[] | undefined;
  readonly selection: ReturnType<typeof useSelection>;
  readonly onChoice: (choice: ColumnChoice) => void;
  readonly onSort: (sort: string[] | undefined) => void;
}

const noGroups: ReadonlySet<string> = new Set();

/** The table, below a bar that opens and closes its groups where it has some. */

export function RunGrid(props: RunGridProps) {
  const { groups } = props.table;
  const [closed, setClosed] = useState<ReadonlySet<string>>(noGroups);
  const allClosed = groups?.every((group) => closed.has(group.value)) === true;
  return (
    <>
      {groups === undefined ? null : (
        <div className="row bar">
          <span className="muted">{countOf(groups.length, "group")}</span>
          <Button
            look="small"
            onClick={() => setClosed(allClosed ? noGroups : new Set(groups.map((group) => group.value)))}
          >
            {allClosed ? "open all" : "close all"}
          </Button>
        </div>
      )}
      <Rows {...props} closed={closed} onGroup={(value) => setClosed((before) => toggled(before, value))} />
    </>
  );
}

interface RowsProps extends RunGridProps {
  readonly closed: ReadonlySet<string>;
  readonly onGroup: (value: string) => void;
}

function Rows(props: RowsProps) {
  const { runs, total, groups, pages, key } = props.table;
  const { selected, toggle, toggleAll } = props.selection;
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useMemo(() => toGridRows(runs, groups, props.closed), [runs, groups, props.closed]);
  const [draft, setDraft] = useState<ColumnChoice | null>(null);
  const choice = draft ?? props.choice;
  const room = useSize(scroller).width || Number.POSITIVE_INFINITY;
  const isGrouped = groups !== undefined;
  const layout = useMemo(() => layoutColumns(choice, room, isGrouped), [choice, room, isGrouped]);
  const { columns } = props.choice;
  const formats = useMemo(() => formatsOfColumns(runs, columns), [runs, columns]);
  const numeric = useMemo(() => numericOf(runs, columns), [runs, columns]);
  // Runs that were not loaded yet have their place, so that the scroll bar tells how many there are and leads to the last.
  const waiting = pages.hasNextPage && !isGrouped ? Math.max(0, total - runs.length) : 0;
  const virtual = useVirtualizer({
    count: rows.length + waiting,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowPx,
    overscan: 12,
  });
  const keepPlace = useKeptPlace(scroller, key);
  useRowKeys(scroller, rows, (index) => virtual.scrollToIndex(index), toggle);
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  const more = useMore(pages);
  useEffect(() => {
    if (pages.hasNextPage && last >= rows.length - 20) more();
  }, [pages.hasNextPage, more, last, rows.length]);
  const template = layout
    .map((column) =>
      column.field === "name" && !choice.widths.has("name") ? `minmax(${column.width}px, 1fr)` : `${column.width}px`,
    )
    .join(" ");
  const width = layout.reduce((sum, column) => sum + column.width, 0);
  return (
    <div className="scroll grid-scroll" ref={scroller} onScroll={keepPlace}>
      {/* biome-ignore lint/a11y/useSemanticElements: rows are placed by hand, which a table element does not allow. */}
      <div
        className="grid"
        role="table"
        aria-label="Runs"
        aria-rowcount={rows.length + waiting + 1}
        style={{ minWidth: width }}
      >
        <GridHead
          {...props}
          {...{ layout, template, numeric }}
          allTicked={runs.length > 0 && selected.size >= runs.length}
          onTickAll={() => void toggleAll()}
          onDraft={setDraft}
        />
        {/* biome-ignore lint/a11y/useSemanticElements: see above. */}
        <div style={{ height: virtual.getTotalSize(), position: "relative" }} role="rowgroup">
          {items.map((item) => {
            const row = rows[item.index];
            return row === undefined ? (
              <WaitingLine key={item.key} top={item.start} />
            ) : (
              <GridLine
                key={row.kind === "run" ? row.run.id : `group ${row.group.value}`}
                {...props}
                {...{ row, layout, template, formats, numeric }}
                index={item.index}
                top={item.start}
              />
            );
          })}
        </div>
      </div>
    </div>
  );
}

/** The columns whose values are aligned as numbers. */
function numericOf(runs: readonly RunSummary[], columns: readonly string[]): ReadonlySet<string> {
  const isNumeric = (column: string) => runs.some((run) => (run.cells[column]?.num ?? null) !== null);
  return new Set(["duration", ...columns.filter(isNumeric)]);
}

function WaitingLine({ top }: { readonly top: number }) {
  return (
    <div className="grid-row grid-waiting" aria-hidden="true" style={placeOf(top)}>
      <i className="skeleton" />
    </div>
  );
}

function placeOf(top: number) {
  return { position: "absolute", insetInline: 0, transform: `translateY(${top}px)` } as const;
}

interface LineProps extends RowsProps {
  readonly row: GridRow;
  readonly layout: readonly GridColumn[];
  readonly template: string;
  readonly formats: ReadonlyMap<string, ColumnFormat>;
  readonly numeric: ReadonlySet<string>;
  readonly index: number;
  readonly top: number;
}

function GridLine(props: LineProps) {
  const { row } = props;
  const { selected, toggle } = props.selection;
  const picked = row.kind === "run" && selected.has(row.run.id);
  return (
    // biome-ignore lint/a11y/useSemanticElements: see the grid.
    // biome-ignore lint/a11y/useFocusableInteractive: links and boxes inside are.
    <div
      role="row"
      data-row={props.index}
      aria-rowindex={props.index + 2}
      aria-selected={picked}
      className={`grid-row ${row.kind === "group" ? "grid-group" : ""} ${picked ? "picked" : ""}`}
      style={{ gridTemplateColumns: props.template, ...placeOf(props.top) }}
    >
      {props.layout.map((column) => {
        const { field } = column;
        const format = props.formats.get(field) ?? plainFormat;
        return (
          // biome-ignore lint/a11y/useSemanticElements: see the grid.
          <div
            key={field}
            role="cell"
            className={`grid-cell ${props.numeric.has(field) ? "num" : ""}`}
            style={stickyStyle(column)}
          >
            {row.kind === "group" ? (
              field === "name" ? (
                <GroupName row={row} onGroup={props.onGroup} />
              ) : (
                <GroupCell group={row.group} field={field} digits={format.digits} />
              )
            ) : field === "select" ? (
              <input
                type="checkbox"
                aria-label={`Select ${row.run.name}`}
                checked={picked}
                onChange={(event) => toggle(row.run.id, (event.nativeEvent as MouseEvent).shiftKey === true)}
              />
            ) : (
              <RunCell run={row.run} field={field} format={format} />
            )}
          </div>
        );
      })}
    </div>
  );
}

interface GroupNameProps extends Pick<RowsProps, "onGroup"> {
  readonly row: Extract<GridRow, { kind: "group" }>;
}

function GroupName({ row: { group, open }, onGroup }: GroupNameProps) {
  return (
    <button type="button" className="grid-sort" aria-expanded={open} onClick={() => onGroup(group.value)}>
      <Icon name={open ? "down" : "right"} size={12} />
      {group.value === "" ? <span className="muted">none</span> : <span className="clip">{group.value}</span>}
    </button>
  );
}
