// Histograms as ridges: every snapshot's counts on one common axis, as densities, so that rows can be compared even
// though each snapshot chose its own edges.

import type { Snapshot } from "#api/contract/snapshot.ts";
import { largestOf } from "#base/extremes.ts";
import { extentOf, type Range } from "../../chart/scale.ts";
import { toNumber } from "../../text/format-number.ts";

export interface Ridge {
  readonly snapshot: Snapshot;
  /** Steps of the outline: density between x[i] and x[i+1]; empty when there is no usable histogram. */
  readonly edges: number[];
  readonly density: number[];
}

export interface Ridges {
  readonly rows: readonly Ridge[];
  readonly x: Range;
  readonly densityMax: number;
}

/** Edges and densities of one snapshot, or nothing when its histogram is not finite. */
export function toRidge(snapshot: Snapshot): Ridge {
  const edges = snapshot.bins.map((edge) => toNumber(edge) ?? Number.NaN);
  const counts = snapshot.counts.map((count) => toNumber(count) ?? Number.NaN);
  const total = counts.reduce((sum, count) => sum + count, 0);
  const usable =
    edges.length === counts.length + 1 && edges.every(Number.isFinite) && Number.isFinite(total) && total > 0;
  if (!usable) return { snapshot, edges: [], density: [] };
  const density = counts.map((count, i) => {
    const width = (edges[i + 1] ?? 0) - (edges[i] ?? 0);
    return width > 0 ? count / total / width : 0;
  });
  return { snapshot, edges, density };
}

/** The values that histograms reach over; null without a finite one. */
export function reachOf(snapshots: readonly Snapshot[]): Range | null {
  return extentOf(snapshots.map(toRidge).flatMap(({ edges }) => [edges[0] ?? null, edges.at(-1) ?? null]));
}

export function toRidges(snapshots: readonly Snapshot[], x = reachOf(snapshots)): Ridges | null {
  const rows = snapshots.map(toRidge);
  if (x === null || reachOf(snapshots) === null) return null;
  const densityMax = largestOf([0, ...rows.flatMap((row) => row.density)]);
  return { rows, x: x.min === x.max ? { min: x.min - 0.5, max: x.max + 0.5 } : x, densityMax };
}

/** The outline of a ridge as an SVG path whose baseline is y = 0 and whose highest ridge is `height` tall. */
export function ridgePath(ridge: Ridge, ridges: Ridges, width: number, height: number): string {
  if (ridge.edges.length === 0) return "";
  const x = (value: number) => (((value - ridges.x.min) / (ridges.x.max - ridges.x.min)) * width).toFixed(1);
  const y = (density: number) => (-(density / (ridges.densityMax || 1)) * height).toFixed(1);
  const middle = ridge.density.map((density, i) => {
    const centre = ((ridge.edges[i] ?? 0) + (ridge.edges[i + 1] ?? 0)) / 2;
    return `L${x(centre)} ${y(density)}`;
  });
  return `M${x(ridge.edges[0] ?? 0)} 0${middle.join("")}L${x(ridge.edges.at(-1) ?? 0)} 0`;
}
