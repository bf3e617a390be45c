// The shared cursor: one moment of the run under the pointer, in nanoseconds after its start. It changes with every
// mouse move, so it lives outside React: canvases listen to it, and only small readouts re-render. A moment that is
// pinned is the cursor until it is freed, wherever the pointer goes.

import { useSyncExternalStore } from "react";
import { createListeners } from "../part/listeners.ts";
import type { TimeWindow } from "./window.ts";

export interface Cursor {
  readonly t: number;
  /** Which panel the pointer is in; that panel draws its own cursor. */
  readonly from: string;
  /** The times that a step or bucket stands for, where the cursor is on one: after `from`, up to `to`. */
  readonly moment?: TimeWindow;
  /** The step or epoch it is on: panels over the same axis show that, whenever each run came to it. */
  readonly at?: { readonly axis: "step" | "epoch"; readonly x: number };
  /** The metric it is on, as `panelId` names it. */
  readonly of?: string;
}

let current: Cursor | null = null;
let pinned: Cursor | null = null;
const listeners = createListeners();
let scheduled = false;

export function setCursor(next: Cursor | null): void {
  if (next === null ? current === null : current !== null && next.t === current.t && next.from === current.from) return;
  current = next;
  if (pinned === null) tell();
}

/** Holds the cursor at a moment; null frees it. */
export function pinCursor(next: Cursor | null): void {
  pinned = next;
  current = null;
  tell();
}

export function isPinned(): boolean {
  return pinned !== null;
}

function tell(): void {
  if (scheduled) return;
  scheduled = true;
  requestAnimationFrame(() => {
    scheduled = false;
    listeners.tell();
  });
}

export function getCursor(): Cursor | null {
  return pinned ?? current;
}

export const onCursor = listeners.subscribe;

export function useCursor(): Cursor | null {
  return useSyncExternalStore(onCursor, getCursor);
}
