// What a plot draws beside its lines: marks for what is not finite, ticks for alerts, commands and checkpoints.

import type uPlot from "uplot";
import type { Inks } from "../app/theme.ts";
import { nonFiniteMarks, type PlotSeries } from "./plot-data.ts";

export interface PlotEvent {
  /** Nanoseconds after the run's start. */
  readonly t: number;
  readonly label: string;
  readonly kind: "command" | "checkpoint" | "alert";
}

/** ✕ on the axis for NaN, ▲ at the top and ▼ at the bottom for the infinities. */
export function drawNonFinite(plot: uPlot, list: readonly PlotSeries[], colours: readonly string[], inks: Inks): void {
  const { ctx, bbox } = plot;
  const px = devicePixelRatio;
  const size = 3.5 * px;
  ctx.save();
  ctx.lineWidth = 1.5 * px;
  list.forEach((series, i) => {
    ctx.strokeStyle = list.length === 1 ? inks.failed : (colours[i] ?? inks.failed);
    ctx.fillStyle = ctx.strokeStyle;
    let drawnTo = Number.NEGATIVE_INFINITY;
    for (const mark of nonFiniteMarks(series)) {
      const x = plot.valToPos(mark.x, "x", true);
      if (x < bbox.left - 1 || x > bbox.left + bbox.width + 1 || x - drawnTo < size) continue;
      drawnTo = x;
      const y = mark.kind === "up" ? bbox.top + size * 1.5 : bbox.top + bbox.height - size * 1.5;
      ctx.beginPath();
      if (mark.kind === "nan") {
        ctx.moveTo(x - size, y - size);
        ctx.lineTo(x + size, y + size);
        ctx.moveTo(x + size, y - size);
        ctx.lineTo(x - size, y + size);
        ctx.stroke();
      } else {
        const way = mark.kind === "up" ? -1 : 1;
        ctx.moveTo(x, y + way * size);
        ctx.lineTo(x - size, y - way * size);
        ctx.lineTo(x + size, y - way * size);
        ctx.fill();
      }
    }
  });
  ctx.restore();
}

/** Ticks on the top edge: what a rule saw in red, commands in the accent, checkpoints in grey. */
export function drawEvents(plot: uPlot, events: readonly { x: number; kind: PlotEvent["kind"] }[], inks: Inks): void {
  const { ctx, bbox } = plot;
  const px = devicePixelRatio;
  ctx.save();
  for (const event of events) {
    const x = plot.valToPos(event.x, "x", true);
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    ctx.fillStyle = event.kind === "alert" ? inks.failed : event.kind === "command" ? inks.accent : inks.muted;
    ctx.fillRect(Math.round(x - px), bbox.top, 2 * px, (event.kind === "checkpoint" ? 6 : 9) * px);
  }
  ctx.restore();
}
