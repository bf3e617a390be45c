// Spans whose name is searched for: which are shown in full colour, how many there are, and going from one to the next.

import { useCallback, useMemo, useRef } from "react";
import { useRunApi, useRunClock } from "../../clock/run-clock.tsx";
import type { TimeWindow } from "../../clock/window.ts";
import { call } from "../../data/client.ts";
import { useSettled } from "../../data/use-settled.ts";
import { findMatch } from "./find-match.ts";

export interface SelectedSpan extends TimeWindow {
  /** '' for a merged box. */
  readonly id: string;
}

export interface MatchesOptions {
  readonly find: string;
  readonly extent: TimeWindow;
  readonly view: TimeWindow;
  readonly selected: SelectedSpan | null;
  readonly onFound: (span: SelectedSpan) => void;
  readonly onMove: (view: TimeWindow) => void;
}

const typingMs = 250;

export function useMatches(options: MatchesOptions) {
  const { run, startNs } = useRunClock();
  const asked = options.find.trim().toLowerCase();
  const wanted = useMemo(() => (asked === "" ? null : (name: string) => name.toLowerCase().includes(asked)), [asked]);
  const pattern = `*${useSettled(asked, typingMs)}*`;
  const found = useRunApi("spans", { query: { name: pattern, width: 1 } }, { enabled: pattern !== "**" });
  const latest = useRef(options);
  latest.current = options;
  const go = useCallback(
    (way: 1 | -1) => {
      const { extent, view, selected } = latest.current;
      if (wanted === null) return;
      const ask = (query: Parameters<Parameters<typeof findMatch>[0]["ask"]>[0]) =>
        call("spans", { params: { id: run.id }, query });
      const start = selected?.from ?? (way === 1 ? view.from - 1 : view.to);
      const search = { pattern: `*${asked}*`, startNs, extent, ask };
      const next = findMatch(search, start, way).then(
        // After the last comes the first.
        (span) => span ?? findMatch(search, way === 1 ? extent.from - 1 : extent.to + 1, way),
      );
      next.then(
        (span) => {
          if (span === null) return;
          latest.current.onFound(span);
          latest.current.onMove(showing(span, latest.current.view));
        },
        // The server is away; the page says so already.
        () => undefined,
      );
    },
    [run.id, startNs, asked, wanted],
  );
  return { wanted, go, total: asked === "" ? null : (found.data?.total ?? null) };
}

/** The view with the span in it: moved when it is outside, and closer when it would be too small to see. */
function showing(span: SelectedSpan, view: TimeWindow): TimeWindow {
  const length = Math.max(1, span.to - span.from);
  const isSeen = span.from >= view.from && span.to <= view.to;
  const isLarge = length > (view.to - view.from) / 200;
  if (isSeen && isLarge) return view;
  const room = isLarge ? view.to - view.from : length * 20;
  const middle = (span.from + span.to) / 2;
  return { from: middle - room / 2, to: middle + room / 2 };
}
