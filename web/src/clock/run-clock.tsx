// The run on screen and its clock, for every panel below: the window, how to set it, the limits.

import { useNavigate, useSearch } from "@tanstack/react-router";
import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo } from "react";
import type { Run } from "#api/contract/run.ts";
import { largestOf } from "#base/extremes.ts";
import { useNow } from "../part/when.tsx";
import { toOffsetNs } from "../text/format-time.ts";
import { setCursor } from "./cursor.ts";
import { clampWindow, formatWindow, parseWindow, type TimeWindow, type WindowSearch } from "./window.ts";

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
}

const ClockContext = createContext<RunClock | null>(null);

export function useRunClock(): RunClock {
  const clock = useContext(ClockContext);
  if (clock === null) throw new Error("no RunClockProvider above");
  return clock;
}

export function RunClockProvider({ run, children }: { readonly run: Run; readonly children: ReactNode }) {
  const search = useSearch({ strict: false }) as WindowSearch;
  const navigate = useNavigate();
  const startNs = run.start_ns ?? "0";
  const now = useNow(5_000, run.status === "running");
  const limits = useMemo(() => limitsOf(run, startNs, now), [run, startNs, now]);
  const window = useMemo(
    () =>
      parseWindow(
        {
          ...(search.from === undefined ? {} : { from: search.from }),
          ...(search.to === undefined ? {} : { to: search.to }),
        },
        startNs,
      ),
    [search.from, search.to, startNs],
  );
  const setWindow = useCallback(
    (next: TimeWindow | null) => {
      const part = next === null ? { from: undefined, to: undefined } : formatWindow(next, startNs);
      void navigate({
        to: ".",
        search: (before: Record<string, unknown>) => ({ ...before, ...part }),
        replace: true,
      } as never);
    },
    [navigate, startNs],
  );
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (
        event.key === "Escape" &&
        document.querySelector("dialog[open], [data-radix-popper-content-wrapper]") === null
      ) {
        setWindow(null);
      }
    };
    addEventListener("keydown", onKey);
    return () => {
      removeEventListener("keydown", onKey);
      setCursor(null);
    };
  }, [setWindow]);
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
    };
  }, [run, startNs, limits, window, setWindow]);
  return <ClockContext value={clock}>{children}</ClockContext>;
}

/** Arrival times say nothing about a run that was imported later, so they only count when nothing better is known. */
function limitsOf(run: Run, startNs: string, nowMs: number): TimeWindow {
  const known = [run.end_ns, ...run.worker_list.map((worker) => worker.last_ns)].filter((ns) => ns !== null);
  const ends = (known.length > 0 ? known : [run.updated_ns]).map((ns) => toOffsetNs(ns, startNs));
  if (run.status === "running") ends.push(nowMs * 1e6 - Number(BigInt(startNs)));
  return { from: 0, to: largestOf([1e6, ...ends]) };
}
