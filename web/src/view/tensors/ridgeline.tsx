// The ridgeline: one row per snapshot, oldest at the back. Hovering a row moves the shared cursor, a click sets the
// window around it.

import { useMemo, useState } from "react";
import type { Snapshot } from "#api/contract/snapshot.ts";
import { useTheme } from "../../app/theme.ts";
import { heatColour } from "../../chart/colour.ts";
import { nearestIndex, niceTicks, type Range } from "../../chart/scale.ts";
import { setCursor, useCursor } from "../../clock/cursor.ts";
import type { TimeWindow } from "../../clock/window.ts";
import { formatSi } from "../../text/format-number.ts";
import { toOffsetNs } from "../../text/format-time.ts";
import { ridgePath, toRidges } from "./ridge.ts";

const width = 460;
const peakPx = 56;

interface RidgelineProps {
  readonly snapshots: readonly Snapshot[];
  readonly overlay: boolean;
  readonly startNs: string;
  readonly label: string;
  /** The values it reaches over, to be the same beside another; its own when absent. */
  readonly reach?: Range | undefined;
  /** Rows outside it are faded. */
  readonly window?: TimeWindow | null;
  readonly onPick?: (snapshot: Snapshot) => void;
}

export function Ridgeline({ snapshots, overlay, startNs, label, reach, window = null, onPick }: RidgelineProps) {
  const theme = useTheme();
  const cursor = useCursor();
  const [over, setOver] = useState(-1);
  const ridges = useMemo(() => toRidges(snapshots, reach), [snapshots, reach]);
  if (ridges === null) return <p className="muted">No histogram with finite edges was sent.</p>;
  const count = ridges.rows.length;
  const rowPx = overlay ? 0 : Math.max(3, Math.min(36, 360 / count));
  const height = overlay ? 220 : peakPx + rowPx * (count - 1) + 8;
  const baseline = (row: number) => (overlay ? height - 4 : peakPx + row * rowPx);
  const times = ridges.rows.map((row) => toOffsetNs(row.snapshot.ts_ns, startNs));
  const marked = over >= 0 ? over : cursor === null ? -1 : nearestIndex(times, cursor.t);
  const isInside = (t: number) => window === null || (t >= window.from && t <= window.to);
  const x = (value: number) => ((value - ridges.x.min) / (ridges.x.max - ridges.x.min)) * width;
  return (
    <svg className="ridges" viewBox={`-64 0 ${width + 76} ${height + 20}`} role="img" aria-label={label}>
      {niceTicks(ridges.x, 5).map((tick) => (
        <g key={tick} transform={`translate(${x(tick)} 0)`}>
          <line y1="0" y2={height} className="ridge-grid" />
          <text y={height + 14} textAnchor="middle">
            {formatSi(tick)}
          </text>
        </g>
      ))}
      {ridges.rows.map((row, i) => {
        const colour = heatColour(0.35 + (0.6 * i) / Math.max(1, count - 1), theme);
        const every = Math.ceil(count / 12);
        return (
          // biome-ignore lint/a11y/noStaticElementInteractions: the list of snapshots beside it has the same by keyboard.
          <g
            key={row.snapshot.id}
            transform={`translate(0 ${baseline(i)})`}
            opacity={isInside(times[i] ?? 0) ? 1 : 0.25}
            onPointerEnter={() => {
              setOver(i);
              setCursor({ t: times[i] ?? 0, from: "ridges" });
            }}
            onPointerLeave={() => {
              setOver(-1);
              setCursor(null);
            }}
            onClick={() => onPick?.(row.snapshot)}
          >
            <path
              d={ridgePath(row, ridges, width, overlay ? height - 16 : peakPx)}
              fill={overlay ? "none" : colour}
              fillOpacity={marked < 0 || marked === i ? 0.8 : 0.3}
              stroke={marked === i ? "var(--ink)" : overlay ? colour : "var(--paper)"}
              strokeWidth={marked === i ? 1.5 : 1}
            />
            {!overlay && (i % every === 0 || i === marked) ? (
              <text x="-8" textAnchor="end" className={i === marked ? "ridge-marked" : ""}>
                {labelOf(row.snapshot)}
              </text>
            ) : null}
          </g>
        );
      })}
    </svg>
  );
}

export function labelOf(snapshot: Snapshot): string {
  if (snapshot.epoch !== null) return `epoch ${snapshot.epoch}`;
  return snapshot.step === null ? "" : `step ${snapshot.step}`;
}
