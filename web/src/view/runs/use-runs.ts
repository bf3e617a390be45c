// The pages of the runs table, kept fresh in place: cells change, rows do not jump, new runs wait to be asked for.

import { useInfiniteQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { RunSummary, RunsAnswer, RunsQuery } from "#api/contract/run.ts";
import { call, Refusal } from "../../data/client.ts";
import { useFreshWithRuns } from "../../data/use-live.ts";
import { keepOrder } from "./runs-search.ts";

/** The first pages come quickly; somebody who scrolls on wants many rows. */
const pageRows = 200;
const pageRowsLater = 1000;
const shortPages = 2;
const settleMs = 2_000;

export function useRuns(query: RunsQuery, enabled: boolean) {
  const key = JSON.stringify(query);
  const pages = useInfiniteQuery({
    queryKey: ["runs", query],
    enabled,
    initialPageParam: { limit: pageRows } as Pick<RunsQuery, "limit" | "cursor">,
    queryFn: ({ pageParam, signal }) => call("runs", { query: { ...query, ...pageParam } }, signal),
    getNextPageParam: ({ next }: RunsAnswer, { length }) =>
      next === null ? undefined : { cursor: next, limit: length < shortPages ? pageRows : pageRowsLater },
    placeholderData: (previous) => previous,
  });
  // A filter that is still being typed is refused; what was shown last stays until it is understood.
  const good = useRef(pages.data);
  if (pages.data !== undefined) good.current = pages.data;
  const data = pages.error instanceof Refusal ? good.current : pages.data;
  useFreshWithRuns(["runs"], settleMs);
  const fresh = useMemo(() => data?.pages.flatMap((page) => page.runs) ?? [], [data]);
  const [shown, setShown] = useState<{ key: string; ids: string[]; pages: number }>({ key: "", ids: [], pages: 0 });
  const pageCount = data?.pages.length ?? 0;
  // Another question, or another page, starts a new order; anything else keeps the one on screen.
  const restart =
    !pages.isPlaceholderData && (shown.key !== key || shown.pages !== pageCount || shown.ids.length === 0);
  useEffect(() => {
    if (restart && fresh.length > 0) setShown({ key, ids: fresh.map((run) => run.id), pages: pageCount });
  }, [restart, fresh, key, pageCount]);
  const kept = useMemo(
    () =>
      restart
        ? { order: fresh.map((run) => run.id), added: 0 }
        : keepOrder(
            shown.ids,
            fresh.map((run) => run.id),
          ),
    [restart, shown, fresh],
  );
  const runs = useMemo(() => {
    const byId = new Map(fresh.map((run) => [run.id, run]));
    return kept.order.map((id) => byId.get(id)).filter((run): run is RunSummary => run !== undefined);
  }, [kept, fresh]);
  const showAll = useCallback(
    () => setShown({ key, ids: fresh.map((run) => run.id), pages: pageCount }),
    [key, fresh, pageCount],
  );
  const first = data?.pages[0];
  const counts = { isCounted: first !== undefined, total: first?.total ?? 0 };
  return { key: shown.key, pages, runs, added: kept.added, showAll, ...counts, groups: first?.groups };
}
