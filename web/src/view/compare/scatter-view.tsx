// Any parameter or metric against any other.

import { Link } from "@tanstack/react-router";
import { useRef } from "react";
import type { RunSummary } from "#api/contract/run.ts";
import { useSetSearch } from "../../app/url-choice.ts";
import { Select } from "../../part/field.tsx";
import { Empty } from "../../part/notice.tsx";
import { useSize } from "../../part/on-screen.ts";
import { formatNumber } from "../../text/format-number.ts";
import { keepRuns, type ParallelAxis, sharedAxes, toAxes } from "./parallel.ts";
import { useCompare } from "./use-comparison.ts";

const left = 84;
const right = 24;
const top = 16;
const bottom = 52;

export function ScatterView() {
  const { compare, look, search } = useCompare();
  const { axes } = look;
  const setSearch = useSetSearch();
  const named = (name: string | undefined) => axes.find((axis) => axis.name === name);
  const wholeX = named(search.x) ?? mostVaried(axes.filter((axis) => axis.kind === "param")) ?? axes[0];
  const shared = sharedAxes(axes.filter((axis) => axis.kind === "metric"));
  const wholeY = named(search.y) ?? shared.findLast((axis) => /loss/.test(axis.name)) ?? axes.at(-1);
  // What cannot be drawn must not stretch the axes either.
  const isDrawn = (i: number) => (wholeX?.places[i] ?? null) !== null && (wholeY?.places[i] ?? null) !== null;
  const drawn = toAxes(keepRuns(compare, isDrawn), (value) => formatNumber(value, 3));
  const x = drawn.find((axis) => axis.name === wholeX?.name) ?? wholeX;
  const y = drawn.find((axis) => axis.name === wholeY?.name) ?? wholeY;
  if (x === undefined || y === undefined) return <Empty title="These runs do not differ in any parameter or metric." />;
  const absent = compare.runs.filter((_, i) => !isDrawn(i));
  const options = axes.map((axis) => [axis.name, axis.label] as const);
  return (
    <div className="stack fill">
      <div className="row wrap">
        <Select caption="across" options={options} value={x.name} onChange={(name) => setSearch({ x: name })} />
        <Select caption="up" options={options} value={y.name} onChange={(name) => setSearch({ y: name })} />
      </div>
      <Points runs={compare.runs.filter((_, i) => isDrawn(i))} x={x} y={y} />
      {absent.length === 0 ? null : (
        <p className="status-warn">
          not drawn, because a value is missing or not finite: {absent.map((run) => run.name).join(", ")}
        </p>
      )}
    </div>
  );
}

interface PointsProps {
  readonly runs: readonly RunSummary[];
  readonly x: ParallelAxis;
  readonly y: ParallelAxis;
}

function Points({ runs, x, y }: PointsProps) {
  const { look } = useCompare();
  const host = useRef<HTMLDivElement>(null);
  const { width, height } = useSize(host);
  const toX = (place: number) => left + place * (width - left - right);
  const toY = (place: number) => top + (1 - place) * (height - top - bottom);
  return (
    <div ref={host} className="fill-picture">
      <svg width={width} height={height} className="parallel" aria-label={`${y.label} against ${x.label}`}>
        <Scales x={x} y={y} toX={toX} toY={toY} width={width} height={height} />
        {runs.map((run, i) => {
          const px = x.places[i];
          const py = y.places[i];
          if (px === null || px === undefined || py === null || py === undefined) return null;
          return (
            <Link key={run.id} to="/runs/$id" params={{ id: run.id }} aria-label={`Open ${run.name} from the plot`}>
              <circle cx={toX(px)} cy={toY(py)} r="6" fill={look.colours.get(run.id)} fillOpacity="0.85">
                <title>{`${run.name}: ${x.label} ${x.texts[i]}, ${y.label} ${y.texts[i]}`}</title>
              </circle>
            </Link>
          );
        })}
      </svg>
    </div>
  );
}

interface ScalesProps {
  readonly x: ParallelAxis;
  readonly y: ParallelAxis;
  readonly toX: (place: number) => number;
  readonly toY: (place: number) => number;
  readonly width: number;
  readonly height: number;
}

function Scales({ x, y, toX, toY, width, height }: ScalesProps) {
  return (
    <>
      {x.ticks.map((tick) => (
        <g key={tick.place}>
          <line x1={toX(tick.place)} x2={toX(tick.place)} y1={toY(0)} y2={toY(1)} className="ridge-grid" />
          <text x={toX(tick.place)} y={toY(0) + 20} textAnchor="middle" className="parallel-tick">
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
      <text x={(left + width - right) / 2} y={height - 8} textAnchor="middle" className="parallel-name">
        {x.label}
      </text>
      <text
        x={0}
        y={0}
        textAnchor="middle"
        className="parallel-name"
        transform={`translate(14 ${(top + height - bottom) / 2}) rotate(-90)`}
      >
        {y.label}
      </text>
    </>
  );
}

function mostVaried(axes: readonly ParallelAxis[]): ParallelAxis | undefined {
  return [...axes].sort((a, b) => new Set(b.texts).size - new Set(a.texts).size)[0];
}
