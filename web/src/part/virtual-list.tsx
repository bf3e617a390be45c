// A long list of which only the rows on screen exist. It asks for more near its end, or near its top when it is read
// from its end, and can stick to its end.

import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useEffect, useLayoutEffect, useRef } from "react";

const nearRows = 30;

export function VirtualList<T>({
  rows,
  keyOf,
  rowPx,
  label,
  follow = false,
  from = "start",
  more,
  onEnd,
  onLeaveEnd,
  children,
}: {
  readonly rows: readonly T[];
  readonly keyOf: (row: T) => string;
  readonly rowPx: number;
  readonly label: string;
  readonly follow?: boolean;
  /** Read from the end, older rows are put in front, and what is on screen stays where it is. */
  readonly from?: "start" | "end";
  readonly more: boolean;
  readonly onEnd: () => void;
  readonly onLeaveEnd?: () => void;
  readonly children: (row: T) => ReactNode;
}) {
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowPx,
    getItemKey: (index) => {
      const row = rows[index];
      return row === undefined ? index : keyOf(row);
    },
    overscan: 16,
  });
  const items = virtual.getVirtualItems();
  const totalPx = virtual.getTotalSize();
  const first = items[0]?.index ?? 0;
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    const near = from === "end" ? rows.length > 0 && first < nearRows : last >= rows.length - nearRows;
    if (more && near) onEnd();
  }, [more, from, first, last, rows.length, onEnd]);

  const top = rows[0] === undefined ? null : keyOf(rows[0]);
  const held = useRef<{ top: string | null; from: "start" | "end" }>({ top: null, from });
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another first row moves what is below it.
  useLayoutEffect(() => {
    const element = scroller.current;
    const before = held.current;
    held.current = { top, from };
    if (element === null || before.top === top) return;
    if (before.from !== from || before.top === null) {
      // Rows are measured as they are shown: the list itself finds the end again until it stands still.
      if (from === "end") virtual.scrollToIndex(rows.length - 1, { align: "end" });
      else element.scrollTop = 0;
      return;
    }
    const at = rows.findIndex((row) => keyOf(row) === before.top);
    if (at > 0) element.scrollTop += virtual.measurementsCache[at]?.start ?? 0;
  }, [top, from]);
  useEffect(() => {
    const element = scroller.current;
    if (follow && element !== null) element.scrollTop = totalPx;
  }, [follow, totalPx]);

  const scrolled = useRef({ top: 0, height: 0 });
  return (
    <section
      ref={scroller}
      className="scroll"
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard.
      tabIndex={0}
      onScroll={(event) => {
        const { scrollTop, scrollHeight } = event.currentTarget;
        // Only a person moves up while nothing else changes.
        if (scrollHeight === scrolled.current.height && scrollTop < scrolled.current.top - 4) onLeaveEnd?.();
        scrolled.current = { top: scrollTop, height: scrollHeight };
      }}
    >
      <ol style={{ height: totalPx, position: "relative" }}>
        {items.map((item) => {
          const row = rows[item.index];
          return row === undefined ? null : (
            <li
              key={item.key}
              data-index={item.index}
              ref={virtual.measureElement}
              style={{ position: "absolute", left: 0, right: 0, top: 0, transform: `translateY(${item.start}px)` }}
            >
              {children(row)}
            </li>
          );
        })}
      </ol>
    </section>
  );
}
