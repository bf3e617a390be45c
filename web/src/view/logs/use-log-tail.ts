// The lines of the open run as they arrive, drawn at most four times a second.

import { useEffect, useState } from "react";
import type { LogRow } from "#api/contract/record.ts";
import { useLiveStream } from "../../data/use-live.ts";

export interface TailLine {
  readonly row: LogRow;
  /** The live event that brought it: its place in the journal. */
  readonly event: string;
}

const drawMs = 250;
const linesMax = 20_000;
const none: readonly TailLine[] = [];

export function useLogTail(run: string): readonly TailLine[] {
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
