// A pointer that was pressed on an element is followed until it is let go, wherever it goes.

import type { PointerEvent } from "react";

/** `onEnd` is given what the last move gave; undefined when the pointer did not move. */
export function follow<T>(
  event: PointerEvent<HTMLElement | SVGElement>,
  onMove: (at: { readonly clientX: number; readonly clientY: number }) => T,
  onEnd?: (last: T | undefined) => void,
): void {
  const element: Element = event.currentTarget;
  const stop = new AbortController();
  let last: T | undefined;
  element.setPointerCapture(event.pointerId);
  const listen = (name: string, heard: (event: Event) => void) =>
    element.addEventListener(name, heard, { signal: stop.signal });
  listen("pointermove", (moved) => {
    if (moved instanceof MouseEvent) last = onMove(moved);
  });
  for (const name of ["pointerup", "pointercancel"]) {
    listen(name, () => {
      stop.abort();
      onEnd?.(last);
    });
  }
}
