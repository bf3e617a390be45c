// The pointer over the lanes: it points at spans, drags the view in time and the lanes up and down, with Shift cuts out
// an area, and a click selects a span and pins its moment.

import { type MouseEvent, type PointerEvent, type RefObject, useRef } from "react";
import { setCursor } from "../../clock/cursor.ts";
import { panWindow, type TimeWindow } from "../../clock/window.ts";
import type { Area } from "./area-panel.tsx";
import { boxAt } from "./boxes.ts";
import { gutterPx, rulerPx } from "./draw.ts";
import { type PlacedLane, rowAt } from "./lanes.ts";
import type { CanvasProps, PickedBox } from "./timeline-canvas.tsx";

export interface PointerScene {
  readonly canvas: RefObject<HTMLCanvasElement | null>;
  readonly scroller: RefObject<HTMLDivElement | null>;
  readonly size: { readonly width: number; readonly height: number };
  readonly scrollTop: number;
  readonly placed: readonly PlacedLane[];
  readonly props: CanvasProps;
}

interface Point {
  readonly x: number;
  readonly y: number;
}

interface Held {
  readonly kind: "pan" | "area";
  readonly at: Point;
  readonly view: TimeWindow;
  readonly scrollTop: number;
  moved: boolean;
  area: Area | null;
}

export function usePointer(scene: PointerScene) {
  const held = useRef<Held | null>(null);
  const { props } = scene;
  const hover = (picked: PickedBox | null) => {
    if (picked?.box !== props.hovered?.box || picked?.boxes !== props.hovered?.boxes) props.onHover(picked);
  };
  return {
    onPointerDown(event: PointerEvent<HTMLCanvasElement>) {
      const at = pointOf(scene, event);
      const kind = event.shiftKey ? "area" : "pan";
      held.current = { kind, at, view: props.view, scrollTop: scene.scrollTop, moved: false, area: null };
      event.currentTarget.setPointerCapture(event.pointerId);
    },
    onPointerMove(event: PointerEvent<HTMLCanvasElement>) {
      const at = pointOf(scene, event);
      if (held.current !== null) return drag(scene, held.current, at);
      setCursor(at.x < gutterPx ? null : { t: timeAt(scene, at.x), from: "timeline" });
      hover(pick(scene, at));
    },
    onPointerUp(event: PointerEvent<HTMLCanvasElement>) {
      if (held.current?.moved === false) {
        const at = pointOf(scene, event);
        props.onArea(null);
        props.onSelect(pick(scene, at), timeAt(scene, at.x));
      } else if (held.current?.area != null) {
        // Only now: what it shows takes room, and must not move the lanes under the hand.
        props.onArea({ ...held.current.area, settled: true });
      }
      held.current = null;
    },
    onPointerLeave() {
      setCursor(null);
      hover(null);
    },
    onDoubleClick: (event: MouseEvent) => props.onFit(pick(scene, pointOf(scene, event))),
  };
}

function drag(scene: PointerScene, held: Held, at: Point): void {
  const [byX, byY] = [at.x - held.at.x, at.y - held.at.y];
  if (Math.abs(byX) > 3 || Math.abs(byY) > 3) held.moved = true;
  if (!held.moved) return;
  if (held.kind === "area") {
    held.area = areaOf(scene, held.at, at);
    scene.props.onArea(held.area);
    return;
  }
  const length = held.view.to - held.view.from;
  scene.props.onMove(panWindow(held.view, (-byX / (scene.size.width - gutterPx)) * length));
  if (scene.scroller.current !== null) scene.scroller.current.scrollTop = held.scrollTop - byY;
}

function pointOf({ canvas }: PointerScene, event: { readonly clientX: number; readonly clientY: number }): Point {
  const box = canvas.current?.getBoundingClientRect();
  return { x: event.clientX - (box?.left ?? 0), y: event.clientY - (box?.top ?? 0) };
}

function timeAt({ props: { view }, size }: PointerScene, x: number): number {
  return view.from + ((Math.max(gutterPx, x) - gutterPx) / (size.width - gutterPx)) * (view.to - view.from);
}

/** Every lane that is touched, from the earlier time to the later. */
function areaOf(scene: PointerScene, a: Point, b: Point): Area {
  const toY = (point: Point) => point.y - rulerPx + scene.scrollTop;
  const [top, bottom] = [Math.min(toY(a), toY(b)), Math.max(toY(a), toY(b))];
  const [from, to] = [timeAt(scene, Math.min(a.x, b.x)), timeAt(scene, Math.max(a.x, b.x))];
  const touched = scene.placed.filter((lane) => lane.top <= bottom && lane.top + lane.height > top);
  return { from, to: Math.max(to, from + 1), lanes: touched.map(({ lane }) => lane.id), settled: false };
}

function pick(scene: PointerScene, at: Point): PickedBox | null {
  const found = rowAt(scene.placed, at.y - rulerPx + scene.scrollTop);
  if (found === null) return null;
  const { view, layers } = scene.props;
  const slack = ((view.to - view.from) / (scene.size.width - gutterPx)) * 3;
  for (const boxes of layers.toReversed()) {
    const row = boxes.rows.find((each) => each.lane === found.lane.lane.id && each.depth === found.depth);
    const box = row === undefined ? -1 : boxAt(boxes, row, timeAt(scene, at.x), slack);
    if (box >= 0) return { boxes, box };
  }
  return null;
}
