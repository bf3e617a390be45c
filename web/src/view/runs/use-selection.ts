// Which runs are ticked: one by one, a range with Shift, or all that match, also those that no page has loaded yet.

import { useCallback, useRef, useState } from "react";
import type { RunSummary, RunsQuery } from "#api/contract/run.ts";
import { readPages } from "../../data/use-pages.ts";

const pageRows = 1000;

export type Selection = ReadonlyMap<string, RunSummary>;
const nothing: Selection = new Map();

export function useSelection(runs: readonly RunSummary[], total: number, query: RunsQuery) {
  const [selected, setSelected] = useState<Selection>(nothing);
  const [gathering, setGathering] = useState(false);
  const lastTicked = useRef("");
  const clear = useCallback(() => setSelected(nothing), []);

  /** With Shift, every run between the last one ticked and this one becomes as this one. */
  const toggle = (id: string, range: boolean) => {
    const at = runs.findIndex((run) => run.id === id);
    const from = range ? runs.findIndex((run) => run.id === lastTicked.current) : -1;
    lastTicked.current = id;
    const touched = from < 0 ? runs.slice(at, at + 1) : runs.slice(Math.min(at, from), Math.max(at, from) + 1);
    setSelected((before) => {
      const next = new Map(before);
      for (const run of touched) before.has(id) ? next.delete(run.id) : next.set(run.id, run);
      return next;
    });
  };

  const toggleAll = async () => {
    if (selected.size >= total) return clear();
    setSelected(new Map(runs.map((run) => [run.id, run])));
    if (runs.length >= total) return;
    setGathering(true);
    try {
      const all = await readAllRuns(query);
      setSelected(new Map(all.map((run) => [run.id, run])));
    } finally {
      setGathering(false);
    }
  };
  return { selected, gathering, toggle, toggleAll, clear };
}

async function readAllRuns(query: RunsQuery): Promise<RunSummary[]> {
  const all: RunSummary[] = [];
  const { spark: _spark, ...rest } = query;
  for await (const { runs } of readPages("runs", { query: { ...rest, limit: pageRows } })) {
    for (const run of runs) all.push(run);
  }
  return all;
}
