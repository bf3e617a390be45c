// A tensor's statistics over time as series that the charts can draw.

import type { Snapshot } from "#api/contract/snapshot.ts";
import type { PlotSeries } from "../../chart/plot-data.ts";
import { toNumber } from "../../text/format-number.ts";
import { toOffsetNs } from "../../text/format-time.ts";

type Pick = (snapshot: Snapshot) => { last: number | null; min: number | null; max: number | null };

/** Mean within min–max, mean within ± std, and the norm alone. */
export function toStatsSeries(
  rows: readonly Snapshot[],
  startNs: string,
): { spread: PlotSeries[]; norm: PlotSeries[] } {
  const spread: Pick = (row) => ({ last: toNumber(row.mean), min: toNumber(row.min), max: toNumber(row.max) });
  const deviation: Pick = (row) => {
    const mean = toNumber(row.mean);
    const std = toNumber(row.std);
    return mean === null || std === null
      ? { last: mean, min: mean, max: mean }
      : { last: mean, min: mean - std, max: mean + std };
  };
  const norm: Pick = (row) => ({ last: toNumber(row.norm), min: toNumber(row.norm), max: toNumber(row.norm) });
  return {
    spread: [toSeries(rows, startNs, "min–max", spread), toSeries(rows, startNs, "± std", deviation)],
    norm: [toSeries(rows, startNs, "norm", norm)],
  };
}

function toSeries(rows: readonly Snapshot[], startNs: string, key: string, pick: Pick): PlotSeries {
  const picked = rows.map(pick);
  const finite = (value: number | null) => (value !== null && Number.isFinite(value) ? value : null);
  const t = rows.map((row) => toOffsetNs(row.ts_ns, startNs));
  return {
    run: "",
    key,
    phase: "",
    worker: null,
    points: rows.length,
    x: t,
    xLast: t,
    t,
    tLast: t,
    line: picked.map((value) => finite(value.last)),
    last: picked.map((value) => finite(value.last)),
    min: picked.map((value) => finite(value.min)),
    max: picked.map((value) => finite(value.max)),
    count: rows.map(() => 1),
    nan: picked.map((value) => (value.last !== null && Number.isNaN(value.last) ? 1 : 0)),
    posInf: picked.map((value) => (value.last === Number.POSITIVE_INFINITY ? 1 : 0)),
    negInf: picked.map((value) => (value.last === Number.NEGATIVE_INFINITY ? 1 : 0)),
    banded: key !== "norm",
  };
}
