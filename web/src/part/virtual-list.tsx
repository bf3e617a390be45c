// A long list of which only the rows on screen exist. It asks for more near its end, and can stick to its end.

import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useEffect, useRef } from "react";

export function VirtualList<T>({
  rows,
  keyOf,
  rowPx,
  label,
  follow = false,
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
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (more && last >= rows.length - 30) onEnd();
  }, [more, last, rows.length, onEnd]);
  useEffect(() => {
    const element = scroller.current;
    if (follow && element !== null) element.scrollTop = totalPx;
  }, [follow, totalPx]);
  return (
    <section
      ref={scroller}
      className="scroll"
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard.
      tabIndex={0}
      onWheel={(event) => event.deltaY < 0 && onLeaveEnd?.()}
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
