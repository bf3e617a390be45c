// The lines of a question, oldest first: pages from the server, and what arrived since.

import { useEffect, useMemo, useRef, useState } from "react";
import type { LogRow } from "#api/contract/record.ts";
import { isAfter } from "#model/positions.ts";
import { useRunClock } from "../../clock/run-clock.tsx";
import { useCatchUp, useLiveStream } from "../../data/use-live.ts";
import { usePages } from "../../data/use-pages.ts";
import { messageChars } from "./log-line.tsx";
import { addLevels, appendLines, type LogFilter } from "./log-tail.ts";
import type { LogStart } from "./use-log-search.ts";

export function useLog(from: LogStart, filter: LogFilter) {
  const { run } = useRunClock();
  const tail = useLogTail(run.id);
  const order = from === "end" ? ("desc" as const) : ("asc" as const);
  const query = { ...filter, limit: 500, order, chars: messageChars };
  const {
    pages,
    rows: answered,
    first,
    more,
  } = usePages("logs", { params: { id: run.id }, query }, (answer) => answer.logs);
  const { hasNextPage } = pages;
  useCatchUp(first?.as_of, pages.refetch);
  // Lines that were read from the other end are not these: until the answer comes, there are none.
  const read = useRef(from);
  if (!pages.isPlaceholderData) read.current = from;
  const isTurned = read.current !== from;
  const found = useMemo(() => (isTurned ? [] : answered), [isTurned, answered]);
  const key = JSON.stringify(filter);
  // Reading from the start, new lines follow only when every older page is here.
  const open = !isTurned && (from === "end" || !hasNextPage);
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
  return { pages, rows, levels, more, asked: first !== undefined && !isTurned, appended: tail.length };
}

interface TailLine {
  readonly row: LogRow;
  /** The live event that brought it: its place in the journal. */
  readonly event: string;
}

const drawMs = 250;
const linesMax = 20_000;
const none: readonly TailLine[] = [];

/** The lines of the open run as they arrive, drawn at most four times a second. */
function useLogTail(run: string): readonly TailLine[] {
  const stream = useLiveStream();
  const [tail, setTail] = useState(none);
  useEffect(() => {
    let waiting: TailLine[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    setTail(none);
    const stop = stream.listen((event) => {
      if (event.name !== "logs" || event.data.run !== run) return;
      for (const row of event.data.logs) waiting.push({ row, event: event.id });
      timer ??= setTimeout(() => {
        timer = undefined;
        const fresh = waiting;
        waiting = [];
        setTail((before) => [...before, ...fresh].slice(-linesMax));
      }, drawMs);
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [stream, run]);
  return tail;
}
