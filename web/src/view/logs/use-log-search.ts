// What a log shows, in the address: the text searched for, levels, worker, and which end it is read from. The text is
// written into the address, and asked for, when typing pauses.

import { useSearch } from "@tanstack/react-router";
import { useEffect, useMemo, useRef, useState } from "react";
import { useSetSearch } from "../../app/url-choice.ts";
import { useRunClock } from "../../clock/run-clock.tsx";
import type { TimeWindow } from "../../clock/window.ts";
import { useSettled } from "../../data/use-settled.ts";
import { fromOffsetNs } from "../../text/format-time.ts";
import type { LogFilter } from "./log-tail.ts";

export type LogStart = "start" | "end";

interface LogSearch {
  readonly q?: string;
  readonly level?: readonly string[];
  readonly worker?: string;
  readonly read?: string;
}

const typingMs = 250;
const none: readonly string[] = [];

/** `begin` is the moment that the log is read from, if it is not read from one of its ends. */
export function useLogSearch(begin: TimeWindow | null) {
  const { run, query: window, startNs } = useRunClock();
  const search = useSearch({ strict: false }) as LogSearch;
  const change: (part: { [K in keyof LogSearch]?: LogSearch[K] | undefined }) => void = useSetSearch();
  const { q = "", level = none, worker = "" } = search;
  const [text, setText] = useTyped(q, (next) => change({ q: next === "" ? undefined : next }));
  // A log is read from its start; of a run that goes on, people want its end. A pinned moment is read from there on.
  const usual = run.status === "running" && begin === null ? "end" : "start";
  const from: LogStart =
    begin !== null ? "start" : search.read === "start" || search.read === "end" ? search.read : usual;
  const filter = useMemo<LogFilter>(
    () => ({
      ...window,
      ...(begin === null ? {} : { from_ns: fromOffsetNs(begin.from + 1, startNs) }),
      ...(q === "" ? {} : { q }),
      ...(level.length === 0 ? {} : { level: [...level] }),
      ...(worker === "" ? {} : { worker: [worker] }),
    }),
    [window, begin, startNs, q, level, worker],
  );
  return { text, setText, q, level, worker, from, filter, change };
}

/** A text that is told when typing pauses, and follows when it is changed from elsewhere. */
function useTyped(told: string, tell: (text: string) => void): [string, (text: string) => void] {
  const [text, setText] = useState(told);
  const settled = useSettled(text, typingMs);
  const latest = useRef({ told, tell });
  useEffect(() => {
    latest.current = { told, tell };
  });
  useEffect(() => {
    if (settled !== latest.current.told) latest.current.tell(settled);
  }, [settled]);
  useEffect(() => setText(told), [told]);
  return [text, setText];
}
