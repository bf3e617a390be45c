// The columns of the runs table: which, in which order, how wide, and which stay in place. Pure; the URL holds it all.

import { toggled } from "../../part/toggled.ts";

/** A view as the table draws it. The name is always there and always stays; it is in neither list. */
export interface ColumnChoice {
  /** In the order chosen; columns that stay are drawn first whatever their place here. */
  readonly columns: readonly string[];
  readonly pinned: readonly string[];
  readonly widths: ReadonlyMap<string, number>;
}

export interface GridColumn {
  readonly field: string;
  readonly width: number;
  /** Distance from the left edge while it stays in place; null when it scrolls. */
  readonly sticky: number | null;
}

/** Keeps a column in place while the table scrolls sideways. */
export function stickyStyle({ sticky }: GridColumn) {
  return sticky === null ? undefined : ({ position: "sticky", left: sticky, zIndex: 1 } as const);
}

export const widthMin = 48;
const widthMax = 900;
/** Narrower than this there is no room for all that usually stays in place. */
const narrowPx = 560;
const narrowNamePx = 160;
/** The most of a narrow screen that columns in place may take. */
const stayingShare = 0.6;
const usual: Record<string, number> = {
  ...{ select: 36, name: 172, status: 124, protocol: 116 },
  ...{ spark: 116, start: 92, duration: 88 },
};
/** Of a parameter or metric: a value, or the median, minimum and maximum of a group. */
const plainPx = 96;
const groupedPx = 136;
/** Columns every run has, which are not asked of the server as fields. */
export const builtIn: ReadonlySet<string> = new Set(["name", "status", "protocol", "spark", "start", "duration"]);

/**
 * The columns a URL names. A list with `name` in it is the whole layout, as the page writes it; without, its fields
 * stand in the usual layout, so that a link with two metrics can be written by hand.
 */
export function readColumns(named: readonly string[] | undefined, usualFields: readonly string[]): string[] {
  const unique = [...new Set(named ?? usualFields)];
  if (unique.includes("name")) return unique.filter((field) => field !== "name");
  return ["status", "protocol", ...unique.filter((field) => !builtIn.has(field)), "spark", "start", "duration"];
}

/** Pinned columns of a URL: the status unless it says otherwise. */
export function readPinned(named: readonly string[] | undefined): string[] {
  return named === undefined ? ["status"] : named.filter((field) => field !== "name");
}

/** `field:pixels`; what is not a width is left out. */
export function readWidths(named: readonly string[] | undefined): Map<string, number> {
  const widths = new Map<string, number>();
  for (const each of named ?? []) {
    const at = each.lastIndexOf(":");
    const width = Number(each.slice(at + 1));
    if (at > 0 && Number.isInteger(width)) widths.set(each.slice(0, at), clampWidth(width));
  }
  return widths;
}

/** What the URL holds for a choice; the name in front says that the list is whole. */
export function writeColumns(choice: ColumnChoice): { columns: string[]; pinned: string[]; widths?: string[] } {
  const widths = [...choice.widths].map(([field, width]) => `${field}:${width}`);
  return {
    columns: ["name", ...choice.columns],
    pinned: ["name", ...choice.pinned],
    ...(widths.length === 0 ? {} : { widths }),
  };
}

export function clampWidth(width: number): number {
  return Math.round(Math.max(widthMin, Math.min(widthMax, width)));
}

/**
 * Tick box and name, then what is pinned, then the rest. On a screen that columns in place would fill, so that the rest
 * could never be seen, the name is narrower and pinned columns scroll too.
 */
export function layoutColumns(
  { columns, pinned, widths }: ColumnChoice,
  roomPx = Number.POSITIVE_INFINITY,
  isGrouped = false,
) {
  const isNarrow = roomPx < narrowPx;
  const valuePx = isGrouped ? groupedPx : plainPx;
  const widthOf = (field: string) =>
    widths.get(field) ?? (isNarrow && field === "name" ? narrowNamePx : usual[field]) ?? valuePx;
  const fixed = ["select", "name", ...columns.filter((column) => pinned.includes(column))];
  const loose = columns.filter((column) => !pinned.includes(column));
  let left = 0;
  const placed = fixed.map((field): GridColumn => {
    const width = widthOf(field);
    const stays = !isNarrow || left + width <= roomPx * stayingShare;
    const column = { field, width, sticky: stays ? left : null };
    left += column.width;
    return column;
  });
  return [...placed, ...loose.map((field): GridColumn => ({ field, width: widthOf(field), sticky: null }))];
}

/** The choice after `field` was dropped before `before` (null: at the end). Among pinned columns it becomes one. */
export function dropColumn(choice: ColumnChoice, field: string, before: string | null): ColumnChoice {
  if (field === before) return choice;
  const drawn = [
    ...choice.columns.filter((column) => choice.pinned.includes(column)),
    ...choice.columns.filter((column) => !choice.pinned.includes(column)),
  ].filter((column) => column !== field);
  const at = before === null ? drawn.length : drawn.indexOf(before);
  if (at < 0) return choice;
  const isPinned = (column: string | undefined) => column !== undefined && choice.pinned.includes(column);
  // At the border between the two it stays what it was.
  const stays = isPinned(drawn[at]) || ((at === 0 || isPinned(drawn[at - 1])) && isPinned(field));
  const others = choice.pinned.filter((column) => column !== field);
  return { ...choice, columns: drawn.toSpliced(at, 0, field), pinned: stays ? [...others, field] : others };
}

/** One place to the left (−1) or right (1) among the columns of its kind, pinned or not. */
export function moveColumn(choice: ColumnChoice, field: string, by: -1 | 1): ColumnChoice {
  const stays = choice.pinned.includes(field);
  const kind = choice.columns.filter((column) => choice.pinned.includes(column) === stays);
  const other = kind[kind.indexOf(field) + by];
  if (other === undefined) return choice;
  const swap = new Map([
    [field, other],
    [other, field],
  ]);
  return { ...choice, columns: choice.columns.map((column) => swap.get(column) ?? column) };
}

export function pinColumn(choice: ColumnChoice, field: string): ColumnChoice {
  return { ...choice, pinned: toggled(choice.pinned, field) };
}

export function hideColumn(choice: ColumnChoice, field: string): ColumnChoice {
  const without = (list: readonly string[]) => list.filter((column) => column !== field);
  return { ...choice, columns: without(choice.columns), pinned: without(choice.pinned) };
}

/** Null gives a column its usual width back. */
export function resizeColumn(choice: ColumnChoice, field: string, width: number | null): ColumnChoice {
  const widths = new Map(choice.widths);
  if (width === null) widths.delete(field);
  else widths.set(field, clampWidth(width));
  return { ...choice, widths };
}
