// Any parameter or metric against any other.

import { Link } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import type { CompareAnswer } from "#api/contract/compare.ts";
import { Empty } from "../../part/notice.tsx";
import { formatNumber } from "../../text/format-number.ts";
import { keepRuns, type ParallelAxis, toAxes } from "./parallel.ts";

const width = 640;
const height = 380;
const left = 20;
const bottom = 30;

export function ScatterView({
  compare,
  colours,
}: {
  readonly compare: CompareAnswer;
  readonly colours: ReadonlyMap<string, string>;
}) {
  const axes = useMemo(() => toAxes(compare, (value) => formatNumber(value, 3)), [compare]);
  const [xName, setX] = useState(() => mostVaried(axes.filter((axis) => axis.kind === "param")) ?? axes[0]?.name ?? "");
  const [yName, setY] = useState(() => axes.find((axis) => /loss/.test(axis.name))?.name ?? axes.at(-1)?.name ?? "");
  const wholeX = axes.find((axis) => axis.name === xName) ?? axes[0];
  const wholeY = axes.find((axis) => axis.name === yName) ?? axes[0];
  // What cannot be drawn must not stretch the axes either.
  const isDrawn = (i: number) => (wholeX?.places[i] ?? null) !== null && (wholeY?.places[i] ?? null) !== null;
  const drawn = toAxes(keepRuns(compare, isDrawn), (value) => formatNumber(value, 3));
  const x = drawn.find((axis) => axis.name === wholeX?.name) ?? wholeX;
  const y = drawn.find((axis) => axis.name === wholeY?.name) ?? wholeY;
  if (x === undefined || y === undefined) return <Empty title="These runs do not differ in any parameter or metric." />;
  const runs = compare.runs.filter((_, i) => isDrawn(i));
  const absent = compare.runs.filter((_, i) => !isDrawn(i));
  const toX = (place: number) => left + 60 + place * (width - left - 100);
  const toY = (place: number) => 16 + (1 - place) * (height - bottom - 32);
  return (
    <div className="stack">
      <div className="row wrap">
        <AxisSelect label="across" axes={axes} value={x.name} onChange={setX} />
        <AxisSelect label="up" axes={axes} value={y.name} onChange={setY} />
      </div>
      <svg width={width} height={height} className="parallel" aria-label={`${y.label} against ${x.label}`}>
        {x.ticks.map((tick) => (
          <g key={tick.place}>
            <line x1={toX(tick.place)} x2={toX(tick.place)} y1={toY(0)} y2={toY(1)} className="ridge-grid" />
            <text x={toX(tick.place)} y={height - 10} textAnchor="middle" className="parallel-tick">
              {tick.text}
            </text>
          </g>
        ))}
        {y.ticks.map((tick) => (
          <g key={tick.place}>
            <line x1={toX(0)} x2={toX(1)} y1={toY(tick.place)} y2={toY(tick.place)} className="ridge-grid" />
            <text x={toX(0) - 10} y={toY(tick.place) + 4} textAnchor="end" className="parallel-tick">
              {tick.text}
            </text>
          </g>
        ))}
        {runs.map((run, i) => {
          const px = x.places[i];
          const py = y.places[i];
          if (px === null || px === undefined || py === null || py === undefined) return null;
          return (
            <Link key={run.id} to="/runs/$id" params={{ id: run.id }} aria-label={`Open ${run.name} from the plot`}>
              <circle cx={toX(px)} cy={toY(py)} r="5.5" fill={colours.get(run.id)} fillOpacity="0.85">
                <title>{`${run.name}: ${x.label} ${x.texts[i]}, ${y.label} ${y.texts[i]}`}</title>
              </circle>
            </Link>
          );
        })}
      </svg>
      {absent.length === 0 ? null : (
        <p className="status-warn">
          not drawn, because a value is missing or not finite: {absent.map((run) => run.name).join(", ")}
        </p>
      )}
    </div>
  );
}

function AxisSelect({
  label,
  axes,
  value,
  onChange,
}: {
  readonly label: string;
  readonly axes: readonly ParallelAxis[];
  readonly value: string;
  readonly onChange: (name: string) => void;
}) {
  return (
    <label className="row">
      <span className="muted">{label}</span>
      <select className="select" value={value} onChange={(event) => onChange(event.target.value)}>
        {axes.map((axis) => (
          <option key={axis.name} value={axis.name}>
            {axis.label}
          </option>
        ))}
      </select>
    </label>
  );
}

function mostVaried(axes: readonly ParallelAxis[]): string | undefined {
  return [...axes].sort((a, b) => new Set(b.texts).size - new Set(a.texts).size)[0]?.name;
}
