// A series in a table cell: the min–max band, the line of last values or of means, and crosses where it is not finite.

import type { Float } from "#api/contract/scalar.ts";
import { throughExtremes } from "./outstanding.ts";
import { bandPath, linePath, pointOf, spreadOver } from "./path.ts";
import { extentOf, shareOfRange } from "./scale.ts";
import "./spark.css";

const crossesMax = 24;

interface SparkProps {
  readonly last: readonly (Float | null)[];
  readonly min?: readonly (number | null)[];
  readonly max?: readonly (number | null)[];
  /** What the line is drawn through instead: of several workers, the last value is that of one of them. */
  readonly mean?: readonly (number | null)[];
  readonly width?: number;
  readonly height?: number;
  readonly label: string;
}

export function Spark({ last, min, max, mean, width = 96, height = 20, label }: SparkProps) {
  const finite = last.map((value) => (typeof value === "number" ? value : null));
  const range = extentOf([...finite, ...(min ?? []), ...(max ?? [])]);
  const stepX = width / Math.max(1, last.length - 1);
  const y = (value: number) =>
    range === null || range.max === range.min ? height / 2 : 2 + (height - 4) * (1 - shareOfRange(range, value));
  const drawn = mean ?? finite;
  const line = min === undefined || max === undefined ? drawn : throughExtremes(drawn, min, max);
  const spread = (max ?? []).flatMap((high, i) => {
    const low = min?.[i] ?? null;
    return high === null || low === null ? [] : [{ x: i * stepX, high, low }];
  });
  const hasBand = spread.some(({ high, low }) => high !== low);
  const over = spread.map(({ x, high }) => [x, y(high)] as const);
  const under = spread.map(({ x, low }) => [x, y(low)] as const);
  const bad = last.flatMap((value, i) => (typeof value === "string" ? [i * stepX] : []));
  return (
    <svg
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
      className="spark"
    >
      {hasBand ? <path d={bandPath(over, under)} className="spark-band" /> : null}
      <path d={linePath(line.map((value, i) => pointOf(i * stepX, value, y)))} className="spark-line" />
      {spreadOver(bad, crossesMax).map((x) => (
        <path key={x} d={`M${x - 2} ${height - 6}l4 4m0 -4l-4 4`} className="spark-bad" />
      ))}
    </svg>
  );
}
