// Which part of the run to ask for: windows of power-of-two lengths that overlap by half, so that panning and small
// zooms stay within one answer, and two people looking near each other ask the same question.

import type { TimeWindow } from "../../clock/window.ts";

export interface Tile extends TimeWindow {
  /** Pixels to merge for: as fine as the view, over the tile's whole length. */
  readonly width: number;
}

const widthMax = 16_384;

export function tileOf(view: TimeWindow, viewPx: number, limits: TimeWindow): Tile {
  const length = Math.max(1, view.to - view.from);
  const half = 2 ** Math.ceil(Math.log2(length));
  const from = limits.from + Math.floor((view.from - limits.from) / half) * half;
  const tile = { from, to: from + 2 * half };
  const whole = limits.to - limits.from;
  const clipped = {
    from: Math.max(limits.from, tile.from),
    to: Math.min(limits.from + Math.ceil(whole), tile.to),
  };
  // `half` is up to twice the view, so twice the pixels make the answer at least as fine as the screen.
  const pixels = roundUp((2 * viewPx * (clipped.to - clipped.from)) / half);
  return { ...clipped, width: Math.min(widthMax, Math.max(256, pixels)) };
}

function roundUp(pixels: number): number {
  return Math.ceil(pixels / 256) * 256;
}
