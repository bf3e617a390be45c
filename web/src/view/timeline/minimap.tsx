// The whole run in a strip: where its time went, with the loss over it, and the part on screen marked.

import { useLayoutEffect, useRef } from "react";
import { largestOf } from "#base/extremes.ts";
import { inksOf, useTheme } from "../../app/theme.ts";
import { linePath, pointOf } from "../../chart/path.ts";
import type { PlotSeries } from "../../chart/plot-data.ts";
import { extentOf } from "../../chart/scale.ts";
import { useSteps } from "../../clock/use-steps.ts";
import type { TimeWindow } from "../../clock/window.ts";
import { follow } from "../../part/follow.ts";
import { useSize } from "../../part/on-screen.ts";
import type { Boxes } from "./boxes.ts";
import { gutterPx } from "./draw.ts";

const heightPx = 44;

interface MinimapProps {
  readonly base: Boxes | null;
  readonly colours: ReadonlyMap<string, string>;
  readonly extent: TimeWindow;
  readonly view: TimeWindow;
  readonly onMove: (view: TimeWindow) => void;
}

export function Minimap({ base, colours, extent, view, onMove }: MinimapProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const theme = useTheme();
  const loss = useSteps();
  const host = useRef<HTMLDivElement>(null);
  const { width } = useSize(host);
  useLayoutEffect(() => {
    const ctx = canvas.current?.getContext("2d");
    if (canvas.current === null || ctx === null || ctx === undefined || width === 0) return;
    const inks = inksOf(theme);
    const px = devicePixelRatio;
    canvas.current.width = width * px;
    canvas.current.height = heightPx * px;
    ctx.setTransform(px, 0, 0, px, 0, 0);
    const x = (t: number) => gutterPx + ((t - extent.from) / (extent.to - extent.from)) * (width - gutterPx);
    ctx.fillStyle = inks.panel;
    ctx.fillRect(0, 0, width, heightPx);
    if (base !== null) drawSpans(ctx, base, x, colours);
    if (loss !== null) drawLoss(ctx, loss, x, inks.ink);
    ctx.fillStyle = inks.panel;
    ctx.fillRect(0, 0, gutterPx, heightPx);
    ctx.fillStyle = theme === "dark" ? "rgb(13 17 23 / 62%)" : "rgb(255 255 255 / 68%)";
    ctx.fillRect(gutterPx, 0, x(view.from) - gutterPx, heightPx);
    ctx.fillRect(x(view.to), 0, width - x(view.to), heightPx);
    ctx.strokeStyle = inks.accent;
    ctx.strokeRect(x(view.from) + 0.5, 0.5, Math.max(2, x(view.to) - x(view.from) - 1), heightPx - 1);
    ctx.fillStyle = inks.muted;
    ctx.font = "11px system-ui, sans-serif";
    ctx.fillText("whole run", 10, 18);
    if (loss !== null) ctx.fillText(`— ${loss.key}`, 10, 34, gutterPx - 16);
  }, [base, colours, loss, extent, view, width, theme]);
  const timeAt = (clientX: number) => {
    const box = canvas.current?.getBoundingClientRect();
    const x = box === undefined ? 0 : clientX - box.left - gutterPx;
    return extent.from + (x / (width - gutterPx)) * (extent.to - extent.from);
  };
  const centre = (t: number) => {
    const half = (view.to - view.from) / 2;
    onMove({ from: t - half, to: t + half });
  };
  return (
    <div ref={host} className="minimap no-print">
      <canvas
        ref={canvas}
        aria-label="The whole run; drag to move the part on screen"
        style={{ width, height: heightPx }}
        onPointerDown={(event) => {
          const length = extent.to - extent.from;
          const isNew = event.shiftKey || view.to - view.from >= length * 0.999;
          const from = timeAt(event.clientX);
          if (!isNew) centre(from);
          follow(event, ({ clientX }) => {
            const t = timeAt(clientX);
            if (!isNew) centre(t);
            else if (Math.abs(t - from) > length / 300) onMove({ from: Math.min(t, from), to: Math.max(t, from) });
          });
        }}
      />
    </div>
  );
}

function drawSpans(
  ctx: CanvasRenderingContext2D,
  base: Boxes,
  x: (t: number) => number,
  colours: ReadonlyMap<string, string>,
): void {
  const { spans, names } = base.answer;
  const deepest = Math.min(5, largestOf([1, ...base.rows.map((row) => row.depth + 1)]));
  const rowPx = (heightPx - 4) / deepest;
  for (const row of base.rows) {
    if (row.depth >= deepest) continue;
    for (let i = row.from; i < row.to; i++) {
      const left = x(base.start[i] ?? 0);
      ctx.globalAlpha = (spans.flags[i] ?? 0) & 1 ? 0.15 : 0.55;
      ctx.fillStyle = colours.get(names[spans.name[i] ?? 0] ?? "") ?? "#888888";
      ctx.fillRect(left, 2 + row.depth * rowPx, Math.max(0.7, x(base.end[i] ?? 0) - left), rowPx - 1);
    }
  }
  ctx.globalAlpha = 1;
}

function drawLoss(ctx: CanvasRenderingContext2D, loss: PlotSeries, x: (t: number) => number, ink: string): void {
  const range = extentOf(loss.last);
  if (range === null || range.max === range.min) return;
  const y = (value: number) => 4 + (heightPx - 8) * (1 - (value - range.min) / (range.max - range.min));
  ctx.strokeStyle = ink;
  ctx.lineWidth = 1.25;
  ctx.stroke(new Path2D(linePath(loss.last.map((value, i) => pointOf(x(loss.t[i] ?? 0), value, y)))));
}
