// Waits for a run that was not there when the page opened.

import { useEffect, useRef } from "react";
import { call } from "../../data/client.ts";
import { useApi } from "../../data/use-api.ts";
import { useLiveStream } from "../../data/use-live.ts";

const askMs = 300;
const asksMax = 30;

/** Calls `found` once, when the new run can be asked for. True as soon as it watches. */
export function useFirstRecord(found: (run: string) => void): boolean {
  const stream = useLiveStream();
  const before = useApi("runs", { query: { limit: 1000, archived: "show" } });
  const latest = useRef(found);
  latest.current = found;
  const known = before.data;
  useEffect(() => {
    if (known === undefined) return;
    const ids = new Set(known.runs.map((run) => run.id));
    const stop = new AbortController();
    const unlisten = stream.listen((event) => {
      const run = event.name === "changed" ? event.data.run : event.name === "run" ? event.data.id : null;
      if (run === null || ids.has(run)) return;
      ids.add(run);
      // The event comes when the record is durable, a moment before it is queryable.
      void whenQueryable(run, stop.signal).then((there) => there && latest.current(run));
    });
    return () => {
      unlisten();
      stop.abort();
    };
  }, [stream, known]);
  return known !== undefined;
}

async function whenQueryable(run: string, signal: AbortSignal): Promise<boolean> {
  for (let asks = 0; asks < asksMax && !signal.aborted; asks++) {
    const { runs } = await call("runs", { query: { filter: `id:"${run}"`, limit: 1 } }, signal).catch(() => ({
      runs: [],
    }));
    if (runs.length > 0) return !signal.aborted;
    await new Promise((resolve) => setTimeout(resolve, askMs));
  }
  return false;
}
