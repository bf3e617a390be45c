// Several runs against each other.

import { getRouteApi, Link, useNavigate, useSearch } from "@tanstack/react-router";
import { type ComponentType, useCallback, useMemo, useState } from "react";
import { SavedViews } from "../../app/saved-views.tsx";
import type { SearchRecord } from "../../app/search.ts";
import { Answer, Empty, Loading } from "../../part/notice.tsx";
import "./compare.css";
import { AddRun, CompareLegend } from "./compare-legend.tsx";
import { type CompareSearch, orderedRuns } from "./compare-search.ts";
import { DiffTables } from "./diff-table.tsx";
import { OverlayView } from "./overlay-view.tsx";
import { ParallelView } from "./parallel-view.tsx";
import { ScatterView } from "./scatter-view.tsx";
import { TensorCompare } from "./tensor-compare.tsx";
import { TimeView } from "./time-view.tsx";
import { CompareContext, useComparison, useLook } from "./use-comparison.ts";

const route = getRouteApi("/compare");
const tabs: readonly (readonly [name: string, title: string, view: ComponentType])[] = [
  ["charts", "Charts", OverlayView],
  ["params", "Parameters", DiffTables],
  ["parallel", "Parallel coordinates", ParallelView],
  ["scatter", "Scatter", ScatterView],
  ["time", "Time", TimeView],
  ["tensors", "Tensors", TensorCompare],
];

export function CompareView() {
  const search = route.useSearch();
  // With what only one of the tabs reads.
  const all = useSearch({ strict: false }) as SearchRecord;
  const navigate = useNavigate({ from: "/compare" });
  const ids = useMemo(() => orderedRuns(search), [search]);
  const tab = search.tab ?? "charts";
  const [drawn, setDrawn] = useState(false);
  const onDrawn = useCallback(() => setDrawn(true), []);
  const comparison = useComparison(search, ids, drawn);
  const look = useLook(comparison.data, search);
  const [alone, setAlone] = useState<string | null>(null);
  if (ids.length === 0) return <NoRuns />;
  const { data } = comparison;
  const View = tabs.find(([name]) => name === tab)?.[2] ?? OverlayView;
  // A part that only this tab needs says itself whether it is on its way.
  const waits = tab === "time" || tab === "tensors" ? (comparison.other ?? comparison.first) : comparison.first;
  const open = data === undefined ? null : { compare: data, look, search, alone, setAlone, onDrawn };
  return (
    <CompareContext value={open}>
      <div className="beside fill">
        <aside className="stack small compare-legend" aria-label="Runs">
          <Answer of={comparison.first} rows={3}>
            {() => open !== null && <CompareLegend />}
          </Answer>
        </aside>
        <div className="column">
          <div className="row compare-bar">
            <Tabs tab={tab} />
            <SavedViews
              page="compare"
              search={all}
              path="/compare"
              what="The runs that are compared, and how."
              onOpen={(view) => void navigate({ search: view as CompareSearch })}
            />
          </div>
          <div className="scroll">
            <div className="column page compare-page">
              <Answer of={waits}>{() => (open === null ? <Loading /> : <View />)}</Answer>
            </div>
          </div>
        </div>
      </div>
    </CompareContext>
  );
}

function Tabs({ tab }: { readonly tab: string }) {
  return (
    <nav className="tabs" aria-label="Ways to compare">
      {tabs.map(([name, word]) => (
        <Link
          key={name}
          to="/compare"
          search={(before) => ({ ...before, tab: name })}
          className={`tab ${tab === name ? "current" : ""}`}
          aria-current={tab === name ? "page" : undefined}
        >
          {word}
        </Link>
      ))}
    </nav>
  );
}

function NoRuns() {
  return (
    <Empty title="Choose runs to compare.">
      <p>Tick two or more in the runs table, or add them one by one.</p>
      <Link to="/runs" className="button">
        to the runs
      </Link>
      <AddRun ids={[]} />
    </Empty>
  );
}
