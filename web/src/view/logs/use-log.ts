// The lines of a question, oldest first: pages from the server, and what arrived since.

import { useEffect, useMemo, useRef, useState } from "react";
import { isAfter } from "#model/positions.ts";
import { useRunClock } from "../../clock/run-clock.tsx";
import { useCatchUp, useLiveStream } from "../../data/use-live.ts";
import { usePages } from "../../data/use-pages.ts";
import { messageChars } from "./log-line.tsx";
import {
  addLevels,
  appendLines,
  emptyTail,
  growTail,
  type LogFilter,
  type LogTail,
  type TailLine,
} from "./log-tail.ts";
import type { LogStart } from "./use-log-search.ts";

export function useLog(from: LogStart, filter: LogFilter, follow: boolean) {
  const { run } = useRunClock();
  const isRead = from === "end" && !follow;
  const { lines: tail, arrived, dropped } = useLogTail(run.id, isRead);
  const order = from === "end" ? ("desc" as const) : ("asc" as const);
  const query = { ...filter, limit: 500, order, chars: messageChars };
  const {
    pages,
    rows: answered,
    first,
    more,
  } = usePages("logs", { params: { id: run.id }, query }, (answer) => answer.logs);
  const { hasNextPage } = pages;
  // Lines that were read from the other end are not these: until the answer comes, there are none.
  const read = useRef(from);
  if (!pages.isPlaceholderData) read.current = from;
  const isTurned = read.current !== from;
  const found = useMemo(() => (isTurned ? [] : answered), [isTurned, answered]);
  const key = JSON.stringify(filter);
  // Reading from the start, new lines follow only when every older page is here.
  const open = !isTurned && (from === "end" || !hasNextPage);
  const newest = from === "end" ? first : pages.data?.pages.at(-1);
  useCatchUp(newest?.as_of, pages.refetch, open && !isRead ? dropped : "");
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key stands for the filter.
  const rows = useMemo(() => {
    const ordered = from === "end" ? found.toReversed() : found;
    if (!open) return ordered;
    return appendLines(
      ordered,
      tail.map((line) => line.row),
      filter,
    );
  }, [from, found, open, tail, key]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: as above.
  const levels = useMemo(() => {
    const asOf = first?.as_of ?? "";
    const since = tail.filter((line) => isAfter(line.event, asOf)).map((line) => line.row);
    return addLevels(first?.levels ?? {}, since, filter);
  }, [first, tail, key]);
  return { pages, rows, levels, more, asked: first !== undefined && !isTurned, arrived };
}

const drawMs = 250;

/** The lines of the open run as they arrive, drawn at most four times a second. */
function useLogTail(run: string, isRead: boolean): LogTail {
  const stream = useLiveStream();
  const [tail, setTail] = useState(emptyTail);
  const reading = useRef(isRead);
  reading.current = isRead;
  useEffect(() => {
    let waiting: TailLine[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    setTail(emptyTail);
    const stop = stream.listen((event) => {
      if (event.name !== "logs" || event.data.run !== run) return;
      for (const row of event.data.logs) waiting.push({ row, event: event.id });
      timer ??= setTimeout(() => {
        timer = undefined;
        const fresh = waiting;
        waiting = [];
        setTail((before) => growTail(before, fresh, reading.current));
      }, drawMs);
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [stream, run]);
  return tail;
}
