// A series in a table cell: the min–max band, the line of last values, and crosses where it is not finite.

import type { Float } from "#api/contract/scalar.ts";
import { throughExtremes } from "./outstanding.ts";
import { extentOf } from "./scale.ts";
import "./spark.css";

interface SparkProps {
  readonly last: readonly (Float | null)[];
  readonly min?: readonly (number | null)[];
  readonly max?: readonly (number | null)[];
  readonly width?: number;
  readonly height?: number;
  readonly label: string;
}

export function Spark({ last, min, max, width = 96, height = 20, label }: SparkProps) {
  const finite = last.map((value) => (typeof value === "number" ? value : null));
  const range = extentOf([...finite, ...(min ?? []), ...(max ?? [])]);
  const stepX = width / Math.max(1, last.length - 1);
  const y = (value: number) =>
    range === null || range.max === range.min
      ? height / 2
      : 2 + (height - 4) * (1 - (value - range.min) / (range.max - range.min));
  const line = pathOf(min === undefined || max === undefined ? finite : throughExtremes(finite, min, max), stepX, y);
  const band = min === undefined || max === undefined ? "" : bandOf(min, max, stepX, y);
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
      {band === "" ? null : <path d={band} className="spark-band" />}
      <path d={line} className="spark-line" />
      {bad.slice(0, 24).map((x) => (
        <path key={x} d={`M${x - 2} ${height - 6}l4 4m0 -4l-4 4`} className="spark-bad" />
      ))}
    </svg>
  );
}

function pathOf(values: readonly (number | null)[], stepX: number, y: (value: number) => number): string {
  let path = "";
  let pen = false;
  values.forEach((value, i) => {
    if (value === null) {
      pen = false;
      return;
    }
    path += `${pen ? "L" : "M"}${(i * stepX).toFixed(1)} ${y(value).toFixed(1)}`;
    pen = true;
  });
  return path;
}

function bandOf(
  min: readonly (number | null)[],
  max: readonly (number | null)[],
  stepX: number,
  y: (value: number) => number,
): string {
  const rows = max.flatMap((high, i) => {
    const low = min[i];
    return high === null || low === null || low === undefined ? [] : [{ x: (i * stepX).toFixed(1), high, low }];
  });
  if (rows.length < 2 || rows.every((row) => row.high === row.low)) return "";
  const over = rows.map((row) => `${row.x} ${y(row.high).toFixed(1)}`);
  const under = rows.reverse().map((row) => `${row.x} ${y(row.low).toFixed(1)}`);
  return `M${over.join("L")}L${under.join("L")}Z`;
}
