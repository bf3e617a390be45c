// Parallel coordinates with brushing: drag along an axis to keep only runs that pass there.

import { type PointerEvent, useRef, useState } from "react";
import { useSetSearch } from "../../app/url-choice.ts";
import { linePath, pointOf } from "../../chart/path.ts";
import { Button } from "../../part/button.tsx";
import { follow } from "../../part/follow.ts";
import { Name } from "../../part/name.tsx";
import { Empty } from "../../part/notice.tsx";
import { useSize } from "../../part/on-screen.ts";
import { toggled } from "../../part/toggled.ts";
import { type Brushes, type ParallelAxis, passBrushes, sharedAxes } from "./parallel.ts";
import { useCompare } from "./use-comparison.ts";

const top = 44;
const bottom = 20;
const side = 90;

export function ParallelView() {
  const { compare, look } = useCompare();
  const all = look.axes;
  const [chosen, setChosen] = useState<ReadonlySet<string> | null>(null);
  const names = chosen ?? new Set(firstAxes(all));
  const [brushes, setBrushes] = useState<Brushes>({});
  const [over, setOver] = useState<string | null>(null);
  const axes = all.filter((axis) => names.has(axis.name));
  const passing = passBrushes(axes, brushes, compare.runs.length);
  if (all.length === 0) return <Empty title="These runs do not differ in any parameter or metric." />;
  return (
    <div className="stack fill">
      <div className="row wrap">
        {all.map((axis) => (
          <label key={axis.name} className="chip" style={{ cursor: "pointer" }}>
            <input
              type="checkbox"
              checked={names.has(axis.name)}
              onChange={() => setChosen(toggled(names, axis.name))}
            />
            <Name>{axis.label}</Name>
          </label>
        ))}
        <span className="grow" />
        {over === null ? null : <strong className="clip">{compare.runs.find((run) => run.id === over)?.name}</strong>}
        <Passing passing={passing} brushed={Object.keys(brushes).length > 0} onClear={() => setBrushes({})} />
      </div>
      <Lines {...{ axes, passing, brushes, over }} onBrushes={setBrushes} onOver={setOver} />
    </div>
  );
}

interface PassingProps {
  readonly passing: readonly boolean[];
  readonly brushed: boolean;
  readonly onClear: () => void;
}

function Passing({ passing, brushed, onClear }: PassingProps) {
  const { compare } = useCompare();
  const setSearch = useSetSearch();
  const count = passing.filter(Boolean).length;
  return (
    <span className="row">
      <span className="muted">{count === 1 ? "1 run passes" : `${count} runs pass`}</span>
      <Button
        look="small"
        disabled={count === passing.length || count === 0}
        onClick={() => setSearch({ run: compare.runs.filter((_, i) => passing[i]).map((run) => run.id) }, "as a step")}
      >
        keep only these
      </Button>
      <Button look="small" disabled={!brushed} onClick={onClear}>
        clear brushes
      </Button>
    </span>
  );
}

interface LinesProps {
  readonly axes: readonly ParallelAxis[];
  readonly passing: readonly boolean[];
  readonly brushes: Brushes;
  readonly onBrushes: (brushes: Brushes) => void;
  readonly over: string | null;
  readonly onOver: (id: string | null) => void;
}

function Lines({ axes, passing, brushes, onBrushes, over, onOver }: LinesProps) {
  const { compare, look } = useCompare();
  const host = useRef<HTMLDivElement>(null);
  const size = useSize(host);
  const gap = Math.max(120, (size.width - 2 * side) / Math.max(1, axes.length - 1));
  const x = (at: number) => side + at * gap;
  const y = (place: number) => size.height - bottom - place * Math.max(0, size.height - top - bottom);
  return (
    <div ref={host} className="fill-picture">
      <svg
        width={Math.max(size.width, side * 2 + (axes.length - 1) * gap)}
        height={size.height}
        className="parallel"
        role="img"
        aria-label={`Parallel coordinates of ${compare.runs.length} runs over ${axes.length} axes`}
      >
        {compare.runs.map((run, i) => (
          <path
            key={run.id}
            d={linePath(axes.map(({ places }, at) => pointOf(x(at), places[i] ?? null, y)))}
            stroke={look.colours.get(run.id)}
            strokeOpacity={passing[i] !== true || (over !== null && over !== run.id) ? 0.1 : 0.9}
            strokeWidth={over === run.id ? 3 : 1.75}
            onPointerEnter={() => onOver(run.id)}
            onPointerLeave={() => onOver(null)}
          >
            <title>{run.name}</title>
          </path>
        ))}
        {axes.map((axis, i) => (
          <Axis
            key={axis.name}
            axis={axis}
            x={x(i)}
            y={y}
            brush={brushes[axis.name]}
            onBrush={(brush) => {
              const { [axis.name]: _gone, ...rest } = brushes;
              onBrushes(brush === null ? rest : { ...rest, [axis.name]: brush });
            }}
          />
        ))}
      </svg>
    </div>
  );
}

interface AxisProps {
  readonly axis: ParallelAxis;
  readonly x: number;
  readonly y: (place: number) => number;
  readonly brush: readonly [number, number] | undefined;
  readonly onBrush: (brush: readonly [number, number] | null) => void;
}

function Axis({ axis, x, y, brush, onBrush }: AxisProps) {
  const onDown = (event: PointerEvent<SVGElement>) => {
    const box = event.currentTarget.getBoundingClientRect();
    const placeAt = (clientY: number) => Math.max(0, Math.min(1, 1 - (clientY - box.top) / box.height));
    const from = placeAt(event.clientY);
    const move = ({ clientY }: { readonly clientY: number }) => {
      const at = placeAt(clientY);
      onBrush([Math.min(from, at), Math.max(from, at)]);
      return at;
    };
    follow(event, move, (at = from) => {
      if (Math.abs(at - from) < 0.01) onBrush(null);
    });
  };
  return (
    <g>
      <line x1={x} x2={x} y1={y(0)} y2={y(1)} className="parallel-axis" />
      <text x={x} y={top - 22} textAnchor="middle" className="parallel-name">
        {axis.label.length > 22 ? `…${axis.label.slice(-21)}` : axis.label}
        <title>{axis.label}</title>
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
        onPointerDown={onDown}
      />
    </g>
  );
}

function firstAxes(all: readonly ParallelAxis[]): string[] {
  const params = all.filter((axis) => axis.kind === "param").slice(0, 4);
  const metrics = sharedAxes(all.filter((axis) => axis.kind === "metric"));
  const liked = metrics.filter((axis) => /loss|acc|score|reward/.test(axis.name));
  return [...params, ...(liked.length > 0 ? liked : metrics).slice(0, 3)].map((axis) => axis.name);
}
