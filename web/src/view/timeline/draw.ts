// Draws the timeline onto a canvas. Called once a frame with everything it needs; keeps nothing.

import { spanFlags } from "#api/contract/span-flags.ts";
import type { Inks } from "../../app/theme.ts";
import { inkOn } from "../../chart/colour.ts";
import { timeTicks } from "../../chart/scale.ts";
import type { TimeWindow } from "../../clock/window.ts";
import { countOf } from "../../text/format-number.ts";
import { formatElapsed } from "../../text/format-time.ts";
import type { Area } from "./area-panel.tsx";
import { type Boxes, type BoxRow, mergedText, spanText, visibleBoxes } from "./boxes.ts";
import { type PlacedLane, rowPx } from "./lanes.ts";

export const rulerPx = 22;
export const gutterPx = 132;
const barPx = 13;
const labelPxMin = 34;
const charPx = 6.1;

export interface Scene {
  readonly width: number;
  readonly height: number;
  readonly scrollTop: number;
  readonly view: TimeWindow;
  /** Coarse first, fine over it. */
  readonly layers: readonly Boxes[];
  readonly placed: readonly PlacedLane[];
  readonly colours: ReadonlyMap<string, string>;
  readonly inks: Inks;
  /** Names to show in full colour; null shows all. */
  readonly wanted: ((name: string) => boolean) | null;
  readonly selectedId: string;
  readonly hovered: { readonly boxes: Boxes; readonly box: number } | null;
  readonly cursor: number | null;
  /** The times that the step or bucket under the cursor stands for. */
  readonly moment: TimeWindow | null;
  /** What was cut out by hand. */
  readonly area: Area | null;
  readonly events: readonly { readonly t: number; readonly kind: string }[];
}

export function drawTimeline(ctx: CanvasRenderingContext2D, scene: Scene): void {
  const { width, height, inks } = scene;
  ctx.fillStyle = inks.paper;
  ctx.fillRect(0, 0, width, height);
  ctx.font = "11px system-ui, sans-serif";
  ctx.textBaseline = "middle";
  drawGrid(ctx, scene);
  ctx.save();
  ctx.beginPath();
  ctx.rect(0, rulerPx, width, height - rulerPx);
  ctx.clip();
  for (const placed of scene.placed) {
    const top = rulerPx + placed.top - scene.scrollTop;
    if (top > height || top + placed.height < rulerPx) continue;
    drawLane(ctx, scene, placed, top);
  }
  drawArea(ctx, scene);
  ctx.restore();
  drawCursor(ctx, scene);
}

/** A veil over the lanes and times that were selected. */
function drawArea(ctx: CanvasRenderingContext2D, scene: Scene): void {
  const { area } = scene;
  if (area === null) return;
  const left = Math.max(gutterPx, xOf(scene, area.from));
  const width = xOf(scene, area.to) - left;
  if (width <= 0) return;
  const touched = scene.placed.filter(({ lane }) => area.lanes.includes(lane.id));
  for (const { top, height } of touched) {
    ctx.globalAlpha = 0.16;
    ctx.fillStyle = scene.inks.accent;
    ctx.fillRect(left, rulerPx + top - scene.scrollTop, width, height);
    ctx.globalAlpha = 1;
    ctx.strokeStyle = scene.inks.accent;
    ctx.strokeRect(left + 0.5, rulerPx + top - scene.scrollTop + 0.5, width - 1, height - 1);
  }
}

export function xOf(scene: Pick<Scene, "view" | "width">, t: number): number {
  return gutterPx + ((t - scene.view.from) / (scene.view.to - scene.view.from)) * (scene.width - gutterPx);
}

function drawGrid(ctx: CanvasRenderingContext2D, scene: Scene): void {
  const { inks, width, height, view } = scene;
  const { stepNs, ticks } = timeTicks(view.from, view.to, Math.max(2, Math.floor((width - gutterPx) / 110)));
  ctx.fillStyle = inks.panel;
  ctx.fillRect(0, 0, width, rulerPx);
  for (const tick of ticks) {
    const x = Math.round(xOf(scene, tick));
    ctx.fillStyle = inks.grid;
    ctx.fillRect(x, 0, 1, height);
    ctx.fillStyle = inks.muted;
    ctx.fillText(formatElapsed(tick, stepNs), x + 4, rulerPx / 2);
  }
  ctx.fillStyle = inks.line;
  ctx.fillRect(0, rulerPx - 1, width, 1);
  for (const event of scene.events) {
    const x = xOf(scene, event.t);
    if (x < gutterPx) continue;
    ctx.fillStyle = event.kind === "command" ? inks.accent : inks.muted;
    ctx.fillRect(Math.round(x) - 1, rulerPx - 7, 2, 7);
  }
}

function drawLane(ctx: CanvasRenderingContext2D, scene: Scene, placed: PlacedLane, top: number): void {
  const { inks, width } = scene;
  const rowsTop = top + (placed.rowsTop - placed.top);
  ctx.fillStyle = inks.line;
  ctx.fillRect(0, top, width, 1);
  ctx.save();
  ctx.beginPath();
  ctx.rect(gutterPx, top, width - gutterPx, placed.height);
  ctx.clip();
  for (const boxes of scene.layers) {
    for (const row of boxes.rows) {
      if (row.lane === placed.lane.id) drawRow(ctx, scene, boxes, row, rowsTop + row.depth * rowPx);
    }
  }
  const finest = scene.layers.at(-1);
  if (finest !== undefined) drawMarks(ctx, scene, finest, placed.lane.id, top + 8);
  ctx.restore();
  ctx.fillStyle = inks.panel;
  ctx.fillRect(0, top + 1, gutterPx - 1, placed.height - 1);
  ctx.fillStyle = inks.line;
  ctx.fillRect(gutterPx - 1, top, 1, placed.height);
  ctx.fillStyle = inks.ink;
  ctx.fillText(placed.title, 10, top + 12, gutterPx - 16);
  ctx.fillStyle = inks.muted;
  ctx.fillText(countOf(placed.lane.spans, "span"), 10, top + 28, gutterPx - 16);
}

/** A box where it is drawn. */
interface DrawnBox {
  readonly boxes: Boxes;
  readonly i: number;
  readonly name: string;
  readonly flags: number;
  readonly x: number;
  readonly y: number;
  readonly w: number;
}

function drawRow(ctx: CanvasRenderingContext2D, scene: Scene, boxes: Boxes, row: BoxRow, y: number): void {
  const { spans, names } = boxes.answer;
  const perNs = (scene.width - gutterPx) / (scene.view.to - scene.view.from);
  const range = visibleBoxes(boxes, row, scene.view.from, scene.view.to);
  let filledTo = Number.NEGATIVE_INFINITY;
  for (let i = range.from; i < range.to; i++) {
    const left = gutterPx + ((boxes.start[i] ?? 0) - scene.view.from) * perNs;
    const right = gutterPx + ((boxes.end[i] ?? 0) - scene.view.from) * perNs;
    if (right < gutterPx || right <= filledTo) continue;
    const x = Math.max(left, gutterPx - 2);
    const w = Math.max(1, Math.min(right, scene.width + 2) - x - (right - left > 3 ? 0.6 : 0));
    filledTo = Math.max(filledTo, Math.floor(x + w));
    const name = names[spans.name[i] ?? 0] ?? "";
    const flags = spans.flags[i] ?? 0;
    const box: DrawnBox = { boxes, i, name, flags, x, y, w };
    const colour = scene.colours.get(name) ?? scene.inks.muted;
    const faded = scene.wanted !== null && !scene.wanted(name);
    ctx.globalAlpha = faded ? 0.15 : (spans.merged[i] ?? 1) > 1 ? 0.7 : 1;
    if ((flags & (spanFlags.placeholder | spanFlags.unfinished)) !== 0) hatch(ctx, box, scene.inks);
    else {
      ctx.fillStyle = colour;
      ctx.fillRect(x, y, w, barPx);
    }
    const gpu = spans.gpu_ns[i];
    if (gpu !== null && gpu !== undefined && gpu > 0) {
      ctx.fillStyle = scene.inks.ink;
      ctx.globalAlpha *= 0.55;
      ctx.fillRect(x, y + barPx + 1, Math.max(1, Math.min(gpu * perNs, w)), 2.5);
    }
    ctx.globalAlpha = faded ? 0.3 : 1;
    outline(ctx, scene, box);
    if (w > labelPxMin && !faded) {
      label(ctx, box, (flags & spanFlags.placeholder) !== 0 ? scene.inks.muted : inkOn(colour));
    }
  }
  ctx.globalAlpha = 1;
}

function outline(ctx: CanvasRenderingContext2D, scene: Scene, { boxes, i, flags, x, y, w }: DrawnBox): void {
  const id = boxes.answer.spans.id[i];
  const selected = id !== undefined && id !== "" && id === scene.selectedId;
  const hovered = scene.hovered?.boxes === boxes && scene.hovered.box === i;
  if (!selected && !hovered && (flags & spanFlags.error) === 0) return;
  ctx.strokeStyle = (flags & spanFlags.error) !== 0 && !selected && !hovered ? scene.inks.failed : scene.inks.ink;
  ctx.lineWidth = selected ? 2 : 1.5;
  ctx.strokeRect(x + 0.5, y + 0.5, Math.max(2, w - 1), barPx - 1);
}

function label(ctx: CanvasRenderingContext2D, { boxes, i, name, x, y, w }: DrawnBox, ink: string): void {
  const { spans } = boxes.answer;
  const merged = spans.merged[i] ?? 1;
  const fits = Math.floor((w - 8) / charPx);
  if (fits < 3) return;
  const many = merged > 1 ? mergedText(name, merged, spans.names[i] ?? 1) : "";
  const short = many.length > fits ? `${many.slice(0, fits - 1)}…` : many;
  const text = merged > 1 ? short : spanText(name, spans.index[i] ?? null, fits);
  ctx.fillStyle = ink;
  ctx.fillText(text, Math.max(x, gutterPx) + 4, y + barPx / 2 + 0.5);
}

/** Grey stripes: something that was announced but never came. */
function hatch(ctx: CanvasRenderingContext2D, { x, y, w }: DrawnBox, inks: Inks): void {
  ctx.save();
  ctx.beginPath();
  ctx.rect(x, y, w, barPx);
  ctx.clip();
  ctx.fillStyle = inks.panel;
  ctx.fillRect(x, y, w, barPx);
  ctx.strokeStyle = inks.line;
  ctx.lineWidth = 2;
  ctx.beginPath();
  for (let at = Math.floor((x - barPx) / 8) * 8; at < x + w; at += 8) {
    ctx.moveTo(at, y + barPx);
    ctx.lineTo(at + barPx, y);
  }
  ctx.stroke();
  ctx.strokeStyle = inks.muted;
  ctx.lineWidth = 1;
  ctx.setLineDash([3, 3]);
  ctx.strokeRect(x + 0.5, y + 0.5, Math.max(1, w - 1), barPx - 1);
  ctx.restore();
}

function drawMarks(ctx: CanvasRenderingContext2D, scene: Scene, boxes: Boxes, lane: number, y: number): void {
  const { marks, names } = boxes.answer;
  let drawnTo = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < marks.at.length; i++) {
    if (marks.lane[i] !== lane) continue;
    const x = Math.round(xOf(scene, boxes.marksAt[i] ?? 0));
    if (x < gutterPx || x > scene.width || x <= drawnTo) continue;
    drawnTo = x;
    ctx.fillStyle = scene.colours.get(names[marks.name[i] ?? 0] ?? "") ?? scene.inks.muted;
    ctx.fillRect(x, y, 1, 8);
  }
}

function drawCursor(ctx: CanvasRenderingContext2D, scene: Scene): void {
  if (scene.cursor === null) return;
  if (scene.moment !== null) {
    const from = Math.max(gutterPx, xOf(scene, scene.moment.from));
    const width = xOf(scene, scene.moment.to) - from;
    ctx.fillStyle = scene.inks.accent;
    ctx.globalAlpha = 0.14;
    if (width > 0) ctx.fillRect(from, 0, width, scene.height);
    ctx.globalAlpha = 1;
  }
  const x = Math.round(xOf(scene, scene.cursor));
  if (x < gutterPx) return;
  ctx.fillStyle = scene.inks.muted;
  ctx.fillRect(x, 0, 1, scene.height);
}
