// The table by keyboard: j and k or the arrows go from run to run, x ticks one, Enter opens it as a link does.

import { type RefObject, useRef } from "react";
import { isTyping, useKeys } from "../../part/keys.ts";
import type { GridRow } from "./grid-model.ts";

const moves: Readonly<Record<string, number>> = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 };

export function useRowKeys(
  scroller: RefObject<HTMLElement | null>,
  rows: readonly GridRow[],
  show: (index: number) => void,
  onToggle: (id: string, range: boolean) => void,
): void {
  /** Where the focus is going, until it is there: keys may come faster than rows. */
  const going = useRef<number | null>(null);
  /** Enter was pressed on the way there. */
  const opens = useRef(false);
  const go = (index: number) => {
    if (index < 0 || index >= rows.length) return;
    show(index);
    going.current = index;
    // The row may exist only once it is scrolled to.
    requestAnimationFrame(() => {
      if (going.current !== index) return;
      going.current = null;
      const row = scroller.current?.querySelector<HTMLElement>(`[data-row="${index}"]`);
      const target = row?.querySelector<HTMLElement>("a, button");
      target?.focus({ preventScroll: true });
      if (opens.current) target?.click();
      opens.current = false;
    });
  };
  useKeys((event) => {
    if (isTyping(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
    // Arrows mean something else in menus and lists beside the table; the letters always mean the table.
    if (event.key.startsWith("Arrow") && isBeside(event.target as Node, scroller.current)) return;
    const at = going.current ?? indexOf(document.activeElement);
    const move = moves[event.key];
    const row = at === null ? undefined : rows[at];
    if (move !== undefined) go(at === null ? (move > 0 ? 0 : -1) : at + move);
    else if (event.key === "Enter" && going.current !== null) opens.current = true;
    else if (event.key === "x" && row?.kind === "run") onToggle(row.run.id, false);
    else return;
    event.preventDefault();
  });
}

/** Neither in the table nor around it. */
function isBeside(target: Node, table: Node | null): boolean {
  return table === null || !(table.contains(target) || target.contains(table));
}

/** The row that the focus is in. */
function indexOf(element: Element | null): number | null {
  const row = element?.closest<HTMLElement>("[data-row]");
  return row === null || row === undefined ? null : Number(row.dataset["row"]);
}
