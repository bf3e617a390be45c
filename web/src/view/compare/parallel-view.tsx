// Parallel coordinates with brushing: drag along an axis to keep only runs that pass there.

import { useNavigate } from "@tanstack/react-router";
import { type PointerEvent, useMemo, useRef, useState } from "react";
import type { CompareAnswer } from "#api/contract/compare.ts";
import { Empty } from "../../part/notice.tsx";
import { formatNumber } from "../../text/format-number.ts";
import { type Brushes, type ParallelAxis, passBrushes, toAxes } from "./parallel.ts";

const height = 380;
const top = 44;
const bottom = 16;

export function ParallelView({
  compare,
  colours,
}: {
  readonly compare: CompareAnswer;
  readonly colours: ReadonlyMap<string, string>;
}) {
  const all = useMemo(() => toAxes(compare, (value) => formatNumber(value, 3)), [compare]);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(() => new Set(firstAxes(all)));
  const [brushes, setBrushes] = useState<Brushes>({});
  const navigate = useNavigate();
  const [over, setOver] = useState<string | null>(null);
  const axes = all.filter((axis) => chosen.has(axis.name));
  const passing = passBrushes(axes, brushes, compare.runs.length);
  const gap = 150;
  const width = Math.max(400, (axes.length - 1) * gap + 140);
  const y = (place: number) => height - bottom - place * (height - top - bottom);
  if (all.length === 0) return <Empty title="These runs do not differ in any parameter or metric." />;
  return (
    <div className="stack">
      <div className="row wrap">
        {all.map((axis) => (
          <label key={axis.name} className="chip" style={{ cursor: "pointer" }}>
            <input
              type="checkbox"
              checked={chosen.has(axis.name)}
              onChange={() => {
                const next = new Set(chosen);
                if (!next.delete(axis.name)) next.add(axis.name);
                setChosen(next);
              }}
            />
            <span className="clip">{axis.label}</span>
          </label>
        ))}
        <span className="grow" />
        {over === null ? null : <strong className="clip">{compare.runs.find((run) => run.id === over)?.name}</strong>}
        <span className="muted">{passing.filter(Boolean).length} runs pass</span>
        <button
          type="button"
          className="button small"
          disabled={passing.every(Boolean) || !passing.some(Boolean)}
          onClick={() =>
            void navigate({
              to: "/compare",
              search: { run: compare.runs.filter((_, i) => passing[i]).map((run) => run.id), tab: "parallel" },
            })
          }
        >
          keep only these
        </button>
        <button
          type="button"
          className="button small"
          disabled={Object.keys(brushes).length === 0}
          onClick={() => setBrushes({})}
        >
          clear brushes
        </button>
      </div>
      <div className="table-scroll">
        <svg
          width={width}
          height={height}
          className="parallel"
          role="img"
          aria-label={`Parallel coordinates of ${compare.runs.length} runs over ${axes.length} axes`}
        >
          {compare.runs.map((run, i) => {
            const faded = passing[i] !== true || (over !== null && over !== run.id);
            return (
              <path
                key={run.id}
                d={lineOf(axes, i, (at) => 70 + at * gap, y)}
                stroke={colours.get(run.id)}
                strokeOpacity={faded ? 0.1 : 0.9}
                strokeWidth={over === run.id ? 3 : 1.75}
                onPointerEnter={() => setOver(run.id)}
                onPointerLeave={() => setOver(null)}
              >
                <title>{run.name}</title>
              </path>
            );
          })}
          {axes.map((axis, i) => (
            <Axis
              key={axis.name}
              axis={axis}
              x={70 + i * gap}
              y={y}
              brush={brushes[axis.name]}
              onBrush={(brush) => {
                const { [axis.name]: _gone, ...rest } = brushes;
                setBrushes(brush === null ? rest : { ...rest, [axis.name]: brush });
              }}
            />
          ))}
        </svg>
      </div>
    </div>
  );
}

function Axis({
  axis,
  x,
  y,
  brush,
  onBrush,
}: {
  readonly axis: ParallelAxis;
  readonly x: number;
  readonly y: (place: number) => number;
  readonly brush: readonly [number, number] | undefined;
  readonly onBrush: (brush: readonly [number, number] | null) => void;
}) {
  const from = useRef<number | null>(null);
  const placeAt = (event: PointerEvent<SVGRectElement>) => {
    const box = event.currentTarget.getBoundingClientRect();
    return Math.max(0, Math.min(1, 1 - (event.clientY - box.top) / box.height));
  };
  return (
    <g>
      <line x1={x} x2={x} y1={y(0)} y2={y(1)} className="parallel-axis" />
      <text x={x} y={top - 22} textAnchor="middle" className="parallel-name">
        {axis.label}
      </text>
      {axis.ticks.map((tick) => (
        <text key={tick.place} x={x + 8} y={y(tick.place) + 4} className="parallel-tick">
          {tick.text}
        </text>
      ))}
      {brush === undefined ? null : (
        <rect
          x={x - 7}
          width={14}
          y={y(brush[1])}
          height={Math.max(2, y(brush[0]) - y(brush[1]))}
          className="parallel-brush"
        />
      )}
      <rect
        x={x - 14}
        width={28}
        y={y(1)}
        height={y(0) - y(1)}
        fill="transparent"
        style={{ cursor: "ns-resize", touchAction: "none" }}
        onPointerDown={(event) => {
          from.current = placeAt(event);
          event.currentTarget.setPointerCapture(event.pointerId);
        }}
        onPointerMove={(event) => {
          if (from.current === null) return;
          const at = placeAt(event);
          onBrush([Math.min(from.current, at), Math.max(from.current, at)]);
        }}
        onPointerUp={(event) => {
          if (from.current !== null && Math.abs(placeAt(event) - from.current) < 0.01) onBrush(null);
          from.current = null;
        }}
      />
    </g>
  );
}

/** A run's line; a missing value breaks it. */
function lineOf(
  axes: readonly ParallelAxis[],
  run: number,
  x: (at: number) => number,
  y: (place: number) => number,
): string {
  let pen = false;
  return axes
    .map((axis, i) => {
      const place = axis.places[run];
      if (place === null || place === undefined) {
        pen = false;
        return "";
      }
      const step = `${pen ? "L" : "M"}${x(i)} ${y(place).toFixed(1)}`;
      pen = true;
      return step;
    })
    .join("");
}

function firstAxes(all: readonly ParallelAxis[]): string[] {
  const params = all.filter((axis) => axis.kind === "param").slice(0, 4);
  const metrics = all.filter((axis) => axis.kind === "metric");
  const liked = metrics.filter((axis) => /loss|acc|score|reward/.test(axis.name));
  return [...params, ...(liked.length > 0 ? liked : metrics).slice(0, 3)].map((axis) => axis.name);
}
