// The heading row: a click sorts, a drag moves a column, its right edge resizes it. By keyboard: Alt with an arrow
// moves, the edge takes the arrow keys, and a menu on each heading has all of it in words.

import { type KeyboardEvent, type PointerEvent, useRef, useState } from "react";
import { follow } from "../../part/follow.ts";
import { Icon } from "../../part/icon.tsx";
import { Menu, type MenuEntry } from "../../part/menu.tsx";
import {
  type ColumnChoice,
  dropColumn,
  type GridColumn,
  hideColumn,
  moveColumn,
  pinColumn,
  resizeColumn,
  stickyStyle,
  widthMin,
} from "./grid-columns.ts";
import { headingOf, nextSort } from "./runs-search.ts";

const dragPx = 5;
const keyPx = 16;

export interface GridHeadProps {
  readonly layout: readonly GridColumn[];
  readonly template: string;
  readonly numeric: ReadonlySet<string>;
  readonly choice: ColumnChoice;
  readonly spark: string | undefined;
  readonly sort: readonly string[] | undefined;
  readonly allTicked: boolean;
  readonly onTickAll: () => void;
  readonly onSort: (sort: string[] | undefined) => void;
  readonly onChoice: (choice: ColumnChoice) => void;
  /** While an edge is held: drawn, not yet kept. */
  readonly onDraft: (choice: ColumnChoice | null) => void;
}

export function GridHead(props: GridHeadProps) {
  const row = useRef<HTMLDivElement>(null);
  const [drag, setDrag] = useState<{ field: string; before: string | null } | null>(null);
  const held = useRef<{ field: string; x: number; moved: boolean } | null>(null);
  const movable = props.layout.slice(2);

  /** The column whose left half the pointer is in or which it is left of; null after the last. */
  const beforeAt = (clientX: number): string | null => {
    const cells = [...(row.current?.querySelectorAll<HTMLElement>("[data-field]") ?? [])];
    const target = cells.find((cell) => {
      const box = cell.getBoundingClientRect();
      return clientX < box.left + box.width / 2;
    });
    return target?.dataset["field"] ?? null;
  };
  const onPointerMove = (event: PointerEvent) => {
    const now = held.current;
    if (now === null) return;
    if (!now.moved && Math.abs(event.clientX - now.x) < dragPx) return;
    if (!now.moved) event.currentTarget.setPointerCapture(event.pointerId);
    now.moved = true;
    setDrag({ field: now.field, before: beforeAt(event.clientX) });
  };
  const onPointerUp = () => {
    if (drag !== null) props.onChoice(dropColumn(props.choice, drag.field, drag.before));
    setDrag(null);
    // The click that follows must still see that this was a drag.
    setTimeout(() => {
      held.current = null;
    });
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: see the grid.
    // biome-ignore lint/a11y/useFocusableInteractive: the row itself takes no input.
    <div
      ref={row}
      className="grid-row small grid-head"
      role="row"
      aria-rowindex={1}
      style={{ gridTemplateColumns: props.template }}
      onPointerMove={onPointerMove}
      onPointerUp={onPointerUp}
      onPointerCancel={() => {
        held.current = null;
        setDrag(null);
      }}
    >
      {props.layout.map((column) => (
        <HeadCell
          key={column.field}
          {...props}
          column={column}
          movable={movable.includes(column)}
          dragged={drag?.field === column.field}
          dropHere={drag !== null && drag.before === column.field}
          dropAfter={drag !== null && drag.before === null && column === props.layout.at(-1)}
          onHold={(x) => {
            held.current = { field: column.field, x, moved: false };
          }}
          wasDrag={() => held.current?.moved === true}
        />
      ))}
    </div>
  );
}

type HeadCellProps = GridHeadProps & {
  readonly column: GridColumn;
  readonly movable: boolean;
  readonly dragged: boolean;
  readonly dropHere: boolean;
  readonly dropAfter: boolean;
  readonly onHold: (x: number) => void;
  readonly wasDrag: () => boolean;
};

function HeadCell(props: HeadCellProps) {
  const { column, movable, choice } = props;
  const { field } = column;
  const descending = props.sort?.[0] === `-${field}`;
  const sorted = descending || props.sort?.[0] === field;
  const text = headingOf(field === "spark" ? `metrics.${props.spark}.last` : field);
  const onKeyDown = (event: KeyboardEvent) => {
    if (!event.altKey || !movable || (event.key !== "ArrowLeft" && event.key !== "ArrowRight")) return;
    event.preventDefault();
    props.onChoice(moveColumn(choice, field, event.key === "ArrowLeft" ? -1 : 1));
  };
  const marks = `${props.dragged ? "dragged" : ""} ${props.dropHere ? "drop-here" : ""} ${props.dropAfter ? "drop-after" : ""}`;
  return (
    // biome-ignore lint/a11y/useSemanticElements: see the grid.
    // biome-ignore lint/a11y/useFocusableInteractive: the button inside is.
    <div
      role="columnheader"
      data-field={movable ? field : undefined}
      className={`grid-cell ${props.numeric.has(field) ? "num" : ""} ${marks}`}
      style={stickyStyle(column)}
      aria-sort={sorted ? (descending ? "descending" : "ascending") : "none"}
      onPointerDown={(event) => {
        if (movable && event.button === 0) props.onHold(event.clientX);
      }}
    >
      {field === "select" ? (
        <input type="checkbox" aria-label="Select all runs" checked={props.allTicked} onChange={props.onTickAll} />
      ) : (
        <>
          <button
            type="button"
            className="grid-sort clip"
            title={`${field === "spark" ? `metrics.${props.spark}` : field}${movable ? "; drag or Alt+← → moves the column" : ""}`}
            onKeyDown={onKeyDown}
            onClick={() => {
              if (!props.wasDrag() && field !== "spark") props.onSort(nextSort(props.sort, field));
            }}
          >
            <span className="clip">{text}</span>
            {sorted ? <Icon name={descending ? "down" : "up"} size={12} /> : null}
          </button>
          {movable ? <HeadMenu {...props} text={text} /> : null}
          <Edge {...props} text={text} />
        </>
      )}
    </div>
  );
}

function HeadMenu(props: HeadCellProps & { readonly text: string }) {
  const { choice, column, onChoice, onSort } = props;
  const { field } = column;
  const stays = choice.pinned.includes(field);
  const sorts: readonly MenuEntry[] =
    field === "spark"
      ? []
      : [
          { label: "Sort ascending", icon: "up", act: () => onSort([field]) },
          { label: "Sort descending", icon: "down", act: () => onSort([`-${field}`]) },
        ];
  return (
    <Menu
      trigger={
        <button type="button" className="head-more" aria-label={`Column ${props.text}`}>
          <Icon name="more" size={12} />
        </button>
      }
      entries={[
        ...sorts,
        { label: "Move left", icon: "left", act: () => onChoice(moveColumn(choice, field, -1)) },
        { label: "Move right", icon: "right", act: () => onChoice(moveColumn(choice, field, 1)) },
        {
          label: stays ? "Let it scroll" : "Keep in place",
          icon: "pin",
          act: () => onChoice(pinColumn(choice, field)),
        },
        { label: "Usual width", icon: "expand", act: () => onChoice(resizeColumn(choice, field, null)) },
        { label: "Hide", icon: "cross", act: () => onChoice(hideColumn(choice, field)) },
      ]}
    />
  );
}

/** The right edge of a heading. */
function Edge(props: HeadCellProps & { readonly text: string }) {
  const { choice, column, onChoice, onDraft } = props;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a rule element takes no pointer and no value.
    <div
      role="separator"
      tabIndex={0}
      className="head-edge"
      aria-orientation="vertical"
      aria-label={`Width of ${props.text}`}
      aria-valuenow={column.width}
      aria-valuemin={widthMin}
      onPointerDown={(event) => {
        event.stopPropagation();
        const width = event.currentTarget.parentElement?.clientWidth ?? column.width;
        const resize = ({ clientX }: { readonly clientX: number }) => {
          const next = resizeColumn(choice, column.field, width + clientX - event.clientX);
          onDraft(next);
          return next;
        };
        follow(event, resize, (next) => {
          if (next !== undefined) onChoice(next);
          onDraft(null);
        });
      }}
      onDoubleClick={() => onChoice(resizeColumn(choice, column.field, null))}
      onKeyDown={(event) => {
        if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
        event.preventDefault();
        onChoice(resizeColumn(choice, column.field, column.width + (event.key === "ArrowLeft" ? -keyPx : keyPx)));
      }}
    />
  );
}
