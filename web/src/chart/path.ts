// Lines with gaps, as the paths that SVG and canvases draw.

export type Point = readonly [x: number, y: number];

/** Where a value stands; null where there is none. */
export function pointOf(x: number, value: number | null, y: (value: number) => number): Point | null {
  return value === null ? null : [x, y(value)];
}

/** A line from point to point, broken where there is none. */
export function linePath(points: readonly (Point | null)[]): string {
  return points
    .map((point, i) => (point === null ? "" : `${(points[i - 1] ?? null) === null ? "M" : "L"}${textOf(point)}`))
    .join("");
}

/** What lies between two lines; '' where there is less than a stretch of it. */
export function bandPath(over: readonly Point[], under: readonly Point[]): string {
  return over.length < 2 ? "" : `M${over.map(textOf).join("L")}L${under.toReversed().map(textOf).join("L")}Z`;
}

/** At most so many of a list, from its first to its last. */
export function spreadOver<T>(list: readonly T[], most: number): readonly T[] {
  if (list.length <= most) return list;
  const step = (list.length - 1) / (most - 1);
  return list.filter((_, i) => Math.floor(i / step) > Math.floor((i - 1) / step) || i === list.length - 1);
}

function textOf([x, y]: Point): string {
  return `${x.toFixed(1)} ${y.toFixed(1)}`;
}
