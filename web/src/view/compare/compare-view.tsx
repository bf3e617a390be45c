// Several runs against each other.

import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import type { RunSummary } from "#api/contract/run.ts";
import { useTheme } from "../../app/theme.ts";
import { assignColours } from "../../chart/colour.ts";
import { useApi } from "../../data/use-api.ts";
import { Icon } from "../../part/icon.tsx";
import { Answer, Empty } from "../../part/notice.tsx";
import { Status } from "../../part/status.tsx";
import "./compare.css";
import { DiffTables } from "./diff-table.tsx";
import { OverlayView } from "./overlay-view.tsx";
import { ParallelView } from "./parallel-view.tsx";
import { ScatterView } from "./scatter-view.tsx";
import { TensorCompare } from "./tensor-compare.tsx";
import { TimeView } from "./time-view.tsx";

const route = getRouteApi("/compare");
const tabs = [
  ["charts", "Charts"],
  ["params", "Parameters"],
  ["parallel", "Parallel coordinates"],
  ["scatter", "Scatter"],
  ["time", "Time"],
  ["tensors", "Tensors"],
] as const;

export function CompareView() {
  const search = route.useSearch();
  const ids = search.run ?? [];
  const compare = useApi("compare", { query: { run: ids } }, { enabled: ids.length > 0, keep: true });
  const theme = useTheme();
  const colours = useMemo(() => assignColours(ids, theme), [ids, theme]);
  const [alone, setAlone] = useState<string | null>(null);
  const tab = search.tab ?? "charts";
  if (ids.length === 0) {
    return (
      <Empty title="Choose runs to compare.">
        <p>Tick two or more in the runs table, or add them one by one.</p>
        <Link to="/runs" className="button">
          to the runs
        </Link>
        <AddRun ids={ids} />
      </Empty>
    );
  }
  return (
    <div className="compare">
      <aside className="compare-legend" aria-label="Runs">
        <Answer of={compare} rows={3}>
          {(data) => (
            <ul>
              {data.runs.map((run) => (
                <LegendItem
                  key={run.id}
                  run={run}
                  ids={ids}
                  colour={colours.get(run.id)}
                  alone={alone}
                  onAlone={setAlone}
                />
              ))}
            </ul>
          )}
        </Answer>
        <AddRun ids={ids} />
      </aside>
      <div className="compare-main">
        <nav className="tabs" aria-label="Ways to compare">
          {tabs.map(([name, word]) => (
            <Link
              key={name}
              to="/compare"
              search={{ run: ids, tab: name }}
              className={`tab ${tab === name ? "current" : ""}`}
              aria-current={tab === name ? "page" : undefined}
            >
              {word}
            </Link>
          ))}
        </nav>
        <div className="scroll">
          <div className="page" style={{ maxWidth: "none" }}>
            <Answer of={compare}>
              {(data) => {
                switch (tab) {
                  case "params":
                    return <DiffTables compare={data} colours={colours} />;
                  case "parallel":
                    return <ParallelView compare={data} colours={colours} />;
                  case "scatter":
                    return <ScatterView compare={data} colours={colours} />;
                  case "time":
                    return <TimeView compare={data} colours={colours} />;
                  case "tensors":
                    return <TensorCompare compare={data} />;
                  default:
                    return <OverlayView compare={data} colours={colours} alone={alone} />;
                }
              }}
            </Answer>
          </div>
        </div>
      </div>
    </div>
  );
}

function LegendItem({
  run,
  ids,
  colour,
  alone,
  onAlone,
}: {
  readonly run: RunSummary;
  readonly ids: readonly string[];
  readonly colour: string | undefined;
  readonly alone: string | null;
  readonly onAlone: (id: string | null) => void;
}) {
  const navigate = useNavigate();
  return (
    <li className={`legend-item ${alone !== null && alone !== run.id ? "faded" : ""}`}>
      <button
        type="button"
        className="grid-sort grow"
        aria-pressed={alone === run.id}
        title="show it alone"
        onClick={() => onAlone(alone === run.id ? null : run.id)}
      >
        <i className="swatch" style={{ background: colour }} />
        <span className="clip">{run.name}</span>
      </button>
      <Status status={run.status} />
      <Link
        to="/runs/$id/charts"
        params={{ id: run.id }}
        className="button quiet small icon"
        aria-label={`Open ${run.name}`}
      >
        <Icon name="right" size={12} />
      </Link>
      <button
        type="button"
        className="button quiet small icon"
        aria-label={`Leave out ${run.name}`}
        onClick={() =>
          void navigate({
            to: "/compare",
            search: (before) => ({ ...before, run: ids.filter((id) => id !== run.id) }),
            replace: true,
          })
        }
      >
        <Icon name="cross" size={12} />
      </button>
    </li>
  );
}

function AddRun({ ids }: { readonly ids: readonly string[] }) {
  const navigate = useNavigate();
  const [text, setText] = useState("");
  const asked = text.replace(/[^\p{L}\p{N}_.-]+/gu, " ").trim();
  const runs = useApi(
    "runs",
    { query: { limit: 8, filter: `name~"${asked}"` } },
    { enabled: asked !== "", keep: true },
  );
  return (
    <div className="add-run">
      <input
        className="field"
        placeholder="add a run by name"
        aria-label="Add a run by name"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      {asked === "" ? null : (
        <ul>
          {runs.data?.runs
            .filter((run) => !ids.includes(run.id))
            .map((run) => (
              <li key={run.id}>
                <button
                  type="button"
                  className="menu-item"
                  onClick={() => {
                    setText("");
                    void navigate({ to: "/compare", search: (before) => ({ ...before, run: [...ids, run.id] }) });
                  }}
                >
                  <Icon name="plus" size={12} />
                  <span className="clip">{run.name}</span>
                </button>
              </li>
            ))}
        </ul>
      )}
    </div>
  );
}
