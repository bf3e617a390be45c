// The shared window and the pinned moment in the address. Each is a step of the browser's history, so that Back undoes a
// zoom; what moves within a second is one step.

import { useSearch } from "@tanstack/react-router";
import { useCallback, useMemo, useRef } from "react";
import { useSetSearch } from "../app/url-choice.ts";
import { formatPin, formatWindow, parsePin, parseWindow, type TimeWindow } from "./window.ts";

const oneStepMs = 1_000;

export interface Pin extends TimeWindow {
  /** The metric it was pinned on, as `panelId` names it; '' when it was not on one. */
  readonly of: string;
}

/** What the address says of the clock, in every tab of a run. */
export const clockNames = ["from", "to", "pin", "of"] as const;

export function useClockAddress(startNs: string) {
  const search = useSearch({ strict: false }) as { [K in (typeof clockNames)[number]]?: string };
  const setSearch = useSetSearch();
  const { from, to, pin: pinText, of = "" } = search;
  const window = useMemo(() => parseWindow({ from, to }, startNs), [from, to, startNs]);
  const pin = useMemo<Pin | null>(() => {
    const found = parsePin(pinText, startNs);
    return found === null ? null : { ...found, of };
  }, [pinText, of, startNs]);
  const changed = useRef(Number.NEGATIVE_INFINITY);
  const change = useCallback(
    (part: Record<string, string | undefined>) => {
      const isSameStep = performance.now() - changed.current < oneStepMs;
      changed.current = performance.now();
      setSearch(part, isSameStep ? "in place" : "as a step");
    },
    [setSearch],
  );
  const setWindow = useCallback(
    (next: TimeWindow | null) =>
      change(next === null ? { from: undefined, to: undefined } : { ...formatWindow(next, startNs) }),
    [change, startNs],
  );
  const setPin = useCallback(
    (next: Pin | null) =>
      change(
        next === null
          ? { pin: undefined, of: undefined }
          : { pin: formatPin(next, startNs), of: next.of === "" ? undefined : next.of },
      ),
    [change, startNs],
  );
  return { window, setWindow, pin, setPin };
}
