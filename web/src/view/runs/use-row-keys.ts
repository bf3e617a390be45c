// The table by keyboard: j and k or the arrows go from run to run, x ticks one, Enter opens it as a link does.

import { type RefObject, useEffect, useRef } from "react";
import { isTyping } from "../../app/typing.ts";
import type { GridRow } from "./grid-model.ts";

const moves: Readonly<Record<string, number>> = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 };

export function useRowKeys(
  scroller: RefObject<HTMLElement | null>,
  rows: readonly GridRow[],
  show: (index: number) => void,
  onToggle: (id: string, range: boolean) => void,
): void {
  const latest = useRef({ rows, show, onToggle });
  latest.current = { rows, show, onToggle };
  useEffect(() => {
    /** Where the focus is going, until it is there: keys may come faster than rows. */
    let going: number | null = null;
    /** Enter was pressed on the way there. */
    let opens = false;
    const onKey = (event: KeyboardEvent) => {
      if (isTyping(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
      // Arrows mean something else in menus and lists beside the table; the letters always mean the table.
      if (event.key.startsWith("Arrow") && isBeside(event.target as Node, scroller.current)) return;
      const at = going ?? indexOf(document.activeElement);
      const move = moves[event.key];
      const row = at === null ? undefined : latest.current.rows[at];
      if (move !== undefined) go(at === null ? (move > 0 ? 0 : -1) : at + move);
      else if (event.key === "Enter" && going !== null) opens = true;
      else if (event.key === "x" && row?.kind === "run") latest.current.onToggle(row.run.id, false);
      else return;
      event.preventDefault();
    };
    const go = (index: number) => {
      const { rows: all, show: scrollTo } = latest.current;
      if (index < 0 || index >= all.length) return;
      scrollTo(index);
      going = index;
      // The row may come into being only by scrolling to it.
      requestAnimationFrame(() => {
        if (going !== index) return;
        going = null;
        const row = scroller.current?.querySelector<HTMLElement>(`[data-row="${index}"]`);
        const target = row?.querySelector<HTMLElement>("a, button");
        target?.focus({ preventScroll: true });
        if (opens) target?.click();
        opens = false;
      });
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [scroller]);
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
