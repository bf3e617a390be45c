// The shared window: which part of the run every panel shows. It is in the URL as two decimal times, so that a link
// shows the same moment; inside the page it is nanoseconds after the run's start.

import { fromOffsetNs, toOffsetNs } from "../text/format-time.ts";

export interface TimeWindow {
  readonly from: number;
  readonly to: number;
}

/** Whether it is a single point in time, which nothing lasts long enough to be measured in. */
export function isInstant({ from, to }: TimeWindow): boolean {
  return to - from <= 1;
}

const lengthMin = 100;
const decimal = /^-?\d{1,20}$/;

/** The window a URL names, or null when it names none or nonsense. */
export function parseWindow(search: { from?: string | undefined; to?: string | undefined }, startNs: string) {
  const { from = "", to = "" } = search;
  if (!decimal.test(from) || !decimal.test(to)) return null;
  const window: TimeWindow = { from: toOffsetNs(from, startNs), to: toOffsetNs(to, startNs) };
  return window.to > window.from ? window : null;
}

export function formatWindow(window: TimeWindow, startNs: string): { from: string; to: string } {
  return { from: fromOffsetNs(window.from, startNs), to: fromOffsetNs(window.to, startNs) };
}

/** A pinned moment in a URL: both times, joined by a dash. */
export function parsePin(text: string | undefined, startNs: string): TimeWindow | null {
  const [from, to, ...rest] = (text ?? "").split("-");
  return rest.length > 0 ? null : parseWindow({ from, to }, startNs);
}

export function formatPin(window: TimeWindow, startNs: string): string {
  const { from, to } = formatWindow(window, startNs);
  return `${from}-${to}`;
}

/** Long enough to be seen, and inside the limits as far as it fits. */
export function clampWindow(window: TimeWindow, limits: TimeWindow): TimeWindow {
  const length = Math.min(Math.max(window.to - window.from, lengthMin), limits.to - limits.from);
  const from = Math.min(Math.max(window.from, limits.from), limits.to - length);
  return { from, to: from + length };
}

/** Zooms by `factor` (below 1 is closer) so that the moment `at` stays where it is. */
export function zoomWindow(window: TimeWindow, at: number, factor: number): TimeWindow {
  return { from: at - (at - window.from) * factor, to: at + (window.to - at) * factor };
}

/** What a turn of the wheel does. */
export function wheelZoom(window: TimeWindow, at: number, deltaY: number): TimeWindow {
  return zoomWindow(window, at, Math.exp(Math.max(-120, Math.min(120, deltaY)) * 0.0022));
}

export function panWindow(window: TimeWindow, by: number): TimeWindow {
  return { from: window.from + by, to: window.to + by };
}
