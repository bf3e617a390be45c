// The run on screen and its clock, for every panel below: the window, how to set it, the limits.

import { createContext, type ReactNode, useContext, useEffect, useMemo } from "react";
import type { RouteName } from "#api/contract/paths.ts";
import type { Call, ParamsOf } from "#api/contract/routes.ts";
import type { Run } from "#api/contract/run.ts";
import type { MetricInfo } from "#api/contract/series.ts";
import { largestOf } from "#base/extremes.ts";

import { type ApiOptions, useApi } from "../data/use-api.ts";
import { isBusy, isTyping, useKeys } from "../part/keys.ts";
import { useNow } from "../part/when.tsx";
import { toOffsetNs } from "../text/format-time.ts";
import { type Cursor, pinCursor, setCursor } from "./cursor.ts";
import { type Pin, useClockAddress } from "./use-address.ts";
import { clampWindow, formatWindow, type TimeWindow } from "./window.ts";

export interface RunClock {
  readonly run: Run;
  /** Zero of the clock: every offset in the page counts from here. */
  readonly startNs: string;
  /** From 0 to the end of the run, or to now while it runs. */
  readonly limits: TimeWindow;
  readonly window: TimeWindow | null;
  /** The window as the API takes it; empty when there is none. */
  readonly query: { readonly from_ns?: string; readonly to_ns?: string };
  setWindow(window: TimeWindow | null): void;
  /** As `setWindow`, but kept within the run; a window that holds the whole run is none. */
  brush(window: TimeWindow | null): void;
  /** The moment that every panel stays on until it is freed. */
  readonly pin: Pin | null;
  setPin(pin: Pin | null): void;
  /** Pins what a cursor is on. */
  pinCursor(cursor: Cursor): void;
}

const ClockContext = createContext<RunClock | null>(null);

export function useRunClock(): RunClock {
  const clock = useContext(ClockContext);
  if (clock === null) throw new Error("no RunClockProvider above");
  return clock;
}

type RunRoute = {
  [N in RouteName]: ParamsOf<N> extends { readonly id: string } ? (keyof ParamsOf<N> extends "id" ? N : never) : never;
}[RouteName];

/** `useApi` about the run on screen. */
export function useRunApi<N extends RunRoute>(name: N, input: Omit<Call<N>, "params">, options?: ApiOptions) {
  const { run } = useRunClock();
  return useApi(name, { ...input, params: { id: run.id } } as unknown as Call<N>, options);
}

/** The metrics of the run on screen; none before the answer has come. */
export function useRunMetrics(): readonly MetricInfo[] {
  const { run } = useRunClock();
  return useRunApi("metrics", {}, { enabled: run.counts.metrics > 0 }).data?.metrics ?? noMetrics;
}

const noMetrics: readonly MetricInfo[] = [];

export function RunClockProvider({ run, children }: { readonly run: Run; readonly children: ReactNode }) {
  const startNs = run.start_ns ?? "0";
  const now = useNow(5_000, run.status === "running");
  const limits = useMemo(() => limitsOf(run, startNs, now), [run, startNs, now]);
  const { window, setWindow, pin, setPin } = useClockAddress(startNs);
  usePinnedCursor(pin);
  // Esc frees the pinned moment, and then clears the window; not while something else wants it.
  useKeys((event) => {
    if (event.key !== "Escape" || isTyping(event.target) || isBusy()) return;
    if (pin !== null) setPin(null);
    else if (window !== null) setWindow(null);
  });
  const clock = useMemo<RunClock>(() => {
    const named = window === null ? null : formatWindow(window, startNs);
    return {
      run,
      startNs,
      limits,
      window,
      query: named === null ? {} : { from_ns: named.from, to_ns: named.to },
      setWindow,
      brush: (next) => {
        const kept = next === null ? null : clampWindow(next, limits);
        setWindow(kept !== null && kept.to - kept.from < limits.to - limits.from ? kept : null);
      },
      pin,
      setPin,
      pinCursor: (cursor) => {
        const moment = cursor.moment ?? { from: cursor.t - 1, to: cursor.t };
        setPin({ ...moment, of: cursor.of ?? "" });
      },
    };
  }, [run, startNs, limits, window, setWindow, pin, setPin]);
  return <ClockContext value={clock}>{children}</ClockContext>;
}

function usePinnedCursor(pin: Pin | null): void {
  useEffect(() => {
    pinCursor(pin === null ? null : { t: pin.to, from: "pin", moment: pin, of: pin.of });
  }, [pin]);
  useEffect(
    () => () => {
      pinCursor(null);
      setCursor(null);
    },
    [],
  );
}

/** Arrival times say nothing about a run that was imported later, so they only count when nothing better is known. */
function limitsOf(run: Run, startNs: string, nowMs: number): TimeWindow {
  const known = [run.end_ns, ...run.worker_list.map((worker) => worker.last_ns)].filter((ns) => ns !== null);
  const ends = (known.length > 0 ? known : [run.updated_ns]).map((ns) => toOffsetNs(ns, startNs));
  if (run.status === "running") ends.push(nowMs * 1e6 - Number(BigInt(startNs)));
  return { from: 0, to: largestOf([1e6, ...ends]) };
}
