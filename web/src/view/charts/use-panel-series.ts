// The series of one panel: the answer for the window, plus what arrived since.

import { useEffect, useMemo, useRef, useState } from "react";
import type { Axis, SeriesBody } from "#api/contract/series.ts";
import { appendPoints } from "../../chart/append-points.ts";
import { createLiveTail, type LiveTail } from "../../chart/live-tail.ts";
import { drawnAxis, type PlotSeries, toPlotSeries, wireAxis } from "../../chart/plot-data.ts";
import { useRunClock } from "../../clock/run-clock.tsx";
import { useApi } from "../../data/use-api.ts";
import { useCatchUp, useLiveEvents } from "../../data/use-live.ts";

const foldMs = 20_000;
const drawMs = 250;

export interface LivePoints {
  readonly tail: LiveTail;
  /** Another one when the tail has grown. */
  readonly version: number;
}

interface PanelQuestion {
  readonly key: string;
  readonly phase: string;
  readonly axis: Axis;
  readonly byWorker: boolean;
  readonly buckets: number;
}

export function usePanelSeries(question: PanelQuestion, { tail, version }: LivePoints) {
  const clock = useRunClock();
  const axis = wireAxis(question.axis);
  const body: SeriesBody = {
    runs: [clock.run.id],
    keys: [question.key],
    phase: question.phase,
    axis,
    buckets: question.buckets,
    by: question.byWorker ? "worker" : "run",
    ...clock.query,
  };
  const answer = useApi("series", { body }, { keep: true, staleMs: 60_000 });
  const base = useMemo(
    () =>
      answer.data?.series
        .filter((series) => series.phase === question.phase)
        .map((series) => toPlotSeries(series, answer.data.axis, clock.startNs)),
    [answer.data, clock.startNs, question.phase],
  );
  useCatchUp(answer.data?.as_of, answer.refetch);
  const asOf = answer.data?.as_of ?? "";
  const whole = clock.window === null && answer.data?.axis === axis;
  // biome-ignore lint/correctness/useExhaustiveDependencies: `version` says that the tail has grown.
  const series: readonly PlotSeries[] = useMemo(() => {
    if (base === undefined || !whole) return base ?? [];
    return base.map((each) => appendPoints(each, tail.points(each.key, each.phase, each.worker, axis, asOf)));
  }, [base, whole, tail, version, axis, asOf]);
  return { series, answer, axis: drawnAxis(question.axis, answer.data?.axis) };
}

/** Collects live points of the run, and says when to draw and when to ask for the history again. */
export function useLiveTail(): LivePoints {
  const { run, startNs } = useRunClock();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another run has points of its own.
  const tail = useMemo(() => createLiveTail(startNs), [startNs, run.id]);
  const [version, setVersion] = useState(0);
  const draw = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(draw.current), []);
  useLiveEvents((event, refresher) => {
    if (event.name !== "metrics" || event.data.run !== run.id) return;
    tail.push(event);
    draw.current ??= setTimeout(() => {
      draw.current = undefined;
      setVersion((before) => before + 1);
    }, drawMs);
    refresher.ask("series", { queryKey: ["series"] }, foldMs);
  }, tail);
  return { tail, version };
}
