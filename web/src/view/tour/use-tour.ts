// Where a person is on the way through the sample; kept for this browser, so that it goes on from view to view.

import { useCallback } from "react";
import { usePreference } from "../../app/preference.ts";
import { useApi } from "../../data/use-api.ts";
import { toTourSteps } from "./tour-steps.ts";

/** The number of the step, from 1; 0 when nobody is on the way. */
export function useTourPlace(): [number, (place: number) => void] {
  const [text, setText] = usePreference<string>("tour", "0");
  return [Number(text) || 0, useCallback((place: number) => setText(String(place)), [setText])];
}

export function useTourSteps() {
  const live = useApi(
    "runs",
    { query: { filter: 'name:"steerable spirals" AND status:running', limit: 1 } },
    // It may start a moment after the page is opened.
    { staleMs: 2_000, refetchMs: 3_000, keep: true },
  );
  return toTourSteps(live.data && (live.data.runs[0]?.id ?? null));
}
