// The shared cursor: one moment of the run under the pointer, in nanoseconds after its start. It changes with every
// mouse move, so it lives outside React: canvases listen to it, and only small readouts re-render.

import { useSyncExternalStore } from "react";

export interface Cursor {
  readonly t: number;
  /** Which panel the pointer is in; that panel draws its own cursor. */
  readonly from: string;
}

let current: Cursor | null = null;
const listeners = new Set<() => void>();
let scheduled = false;

export function setCursor(next: Cursor | null): void {
  if (next === null ? current === null : current !== null && next.t === current.t && next.from === current.from) return;
  current = next;
  if (scheduled) return;
  scheduled = true;
  requestAnimationFrame(() => {
    scheduled = false;
    for (const listener of listeners) listener();
  });
}

export function getCursor(): Cursor | null {
  return current;
}

export function onCursor(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useCursor(): Cursor | null {
  return useSyncExternalStore(onCursor, getCursor);
}
