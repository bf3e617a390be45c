// The spans to draw: the whole run coarsely, and the tile around the view finely.

import { useMemo } from "react";
import { useRunClock } from "../../clock/run-clock.tsx";
import type { TimeWindow } from "../../clock/window.ts";
import { useApi } from "../../data/use-api.ts";
import { useSettled } from "../../data/use-settled.ts";
import { fromOffsetNs, toOffsetNs } from "../../text/format-time.ts";
import { type Boxes, toBoxes } from "./boxes.ts";
import { tileOf } from "./tile.ts";

export interface TimelineData {
  readonly layers: readonly Boxes[];
  /** The whole run, coarsely. */
  readonly base: Boxes | null;
  /** The extent of all spans on the run's clock; null when there are none. */
  readonly extent: TimeWindow | null;
  readonly error: Error | null;
  readonly loading: boolean;
  readonly refetch: () => void;
}

export function useTimeline(view: TimeWindow, viewPx: number): TimelineData {
  const { run, startNs } = useRunClock();
  const params = { id: run.id };
  const whole = useApi("spans", { params, query: { width: 2048 } }, { keep: true });
  const base = useMemo(() => (whole.data === undefined ? null : toBoxes(whole.data, startNs)), [whole.data, startNs]);
  const extent = useMemo<TimeWindow | null>(() => {
    const found = whole.data?.extent;
    if (found === null || found === undefined) return null;
    const from = toOffsetNs(found.from_ns, startNs);
    return { from, to: Math.max(from + 1, toOffsetNs(found.to_ns, startNs)) };
  }, [whole.data, startNs]);
  const tile = useSettled(extent === null ? null : tileOf(view, viewPx, extent), 80);
  const query =
    tile === null
      ? {}
      : { from_ns: fromOffsetNs(tile.from, startNs), to_ns: fromOffsetNs(tile.to, startNs), width: tile.width };
  const fine = useApi("spans", { params, query }, { keep: true, enabled: tile !== null });
  const detail = useMemo(() => (fine.data === undefined ? null : toBoxes(fine.data, startNs)), [fine.data, startNs]);
  const layers = useMemo(() => {
    if (base === null) return [];
    if (detail === null) return [base];
    const covers = detail.from <= view.from && detail.to >= view.to;
    return covers ? [detail] : [base, detail];
  }, [base, detail, view]);
  return {
    layers,
    base,
    extent,
    error: whole.error ?? fine.error,
    loading: whole.isPending,
    refetch: () => {
      void whole.refetch();
      void fine.refetch();
    },
  };
}
