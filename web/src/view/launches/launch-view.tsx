// One launch: a grid over two parameters with one cell per run, and the runs below.

import { getRouteApi, Link } from "@tanstack/react-router";
import type { LaunchAnswer, LaunchCell } from "#api/contract/launch.ts";
import { useTheme } from "../../app/theme.ts";
import { useSetSearch } from "../../app/url-choice.ts";
import { heatColour, inkOn } from "../../chart/colour.ts";
import { panelId } from "../../chart/metric-groups.ts";
import { useApi } from "../../data/use-api.ts";
import { useFreshWithRuns } from "../../data/use-live.ts";
import { Select } from "../../part/field.tsx";
import { Icon } from "../../part/icon.tsx";
import { Answer } from "../../part/notice.tsx";
import { Page } from "../../part/panel.tsx";
import { RunLink } from "../../part/run-link.tsx";
import { Status } from "../../part/status.tsx";
import { Table } from "../../part/table.tsx";
import { Took, When } from "../../part/when.tsx";
import { describeProblem } from "../../text/describe-problem.ts";
import { countOf, formatNumber, toNumber } from "../../text/format-number.ts";
import { formatDuration } from "../../text/format-time.ts";
import { ValueCell } from "../runs/run-cells.tsx";
import { headingOf } from "../runs/runs-search.ts";
import { bestCell, chooseAxes, heatOf, toGrid } from "./grid.ts";
import { RunsBar } from "./launches-view.tsx";
import "./launches.css";

const route = getRouteApi("/launches/$id/$attempt");

export function LaunchView() {
  const { id, attempt } = route.useParams();
  const search = route.useSearch();
  const metric = search.metric ?? "duration";
  const launch = useApi(
    "launch",
    { params: { id, attempt: Number(attempt) }, query: { columns: [metric] } },
    { keep: true },
  );
  useFreshWithRuns(launch.data?.status === "running" ? ["launch"] : [], 5_000);
  return (
    <Page maxWidth="none">
      <Answer of={launch}>
        {(data) => (
          <>
            <Head launch={data} />
            <Controls launch={data} metric={metric} />
            <CellGrid launch={data} metric={metric} />
            <CellTable launch={data} metric={metric} />
          </>
        )}
      </Answer>
    </Page>
  );
}

function Head({ launch }: { readonly launch: LaunchAnswer }) {
  const { completeness } = launch;
  return (
    <div className="row wrap" style={{ gap: 16 }}>
      <Status status={launch.status} raw={launch.status_raw} />
      <RunsBar launch={launch} />
      <span>
        started <When ns={launch.start_ns} />
      </span>
      <Took start={launch.start_ns} end={launch.end_ns} running={launch.status === "running"} />
      <span className="muted">{launch.combine_mode.replace("_", " ")}</span>
      <Pipelines of={launch.pipelines} />
      <span className={completeness.status === "complete" ? "status-completed" : "status-warn"}>
        records {completeness.status}
        {completeness.problems.length === 0 ? "" : `: ${completeness.problems.map(describeProblem).join(", ")}`}
      </span>
      {launch.attempts.length > 1
        ? launch.attempts.map((attempt) => (
            <Link
              key={attempt}
              to="/launches/$id/$attempt"
              params={{ id: launch.id, attempt: String(attempt) }}
              className={`chip ${attempt === launch.attempt ? "current" : ""}`}
            >
              attempt {attempt}
            </Link>
          ))
        : null}
    </div>
  );
}

/** How many pipelines of different meaning were launched, and in how many configurations. */
function Pipelines({ of: pipelines }: { readonly of: LaunchAnswer["pipelines"] }) {
  const configs = pipelines.reduce((sum, pipeline) => sum + pipeline.configs.length, 0);
  const ids = pipelines.flatMap((pipeline) => pipeline.pipeline_ids);
  return (
    <span className="muted" title={ids.join("\n")}>
      {countOf(pipelines.length, "pipeline")} in {countOf(configs, "configuration")}
    </span>
  );
}

function useAxes(launch: LaunchAnswer): { x: string | null; y: string | null } {
  const search = route.useSearch();
  const chosen = chooseAxes(launch);
  return { x: search.x ?? chosen.x, y: search.y === "none" ? null : (search.y ?? chosen.y) };
}

/** What a cell can be coloured by: a metric that the launch's runs have, as one of them that came to its end shows. */
function useColourFields(launch: LaunchAnswer, chosen: string): string[] {
  const cells = launch.grid.filter(({ run }) => run !== null);
  const shown = cells.find(({ status }) => status === "completed") ?? cells[0];
  const id = shown?.run ?? "";
  const answer = useApi("metrics", { params: { id } }, { enabled: id !== "" });
  const metrics = answer.data?.metrics.map((each) => `metrics.${panelId(each)}.last`) ?? [];
  return [...new Set(["duration", ...metrics, chosen])];
}

function Controls({ launch, metric }: { readonly launch: LaunchAnswer; readonly metric: string }) {
  const metrics = useColourFields(launch, metric);
  const setSearch = useSetSearch();
  const { x, y } = useAxes(launch);
  const axes = launch.axes.map(({ name, values }) => [name, `${name} (${values.length})`] as const);
  return (
    <div className="row wrap">
      <Select caption="across" value={x ?? ""} options={axes} onChange={(name) => setSearch({ x: name })} />
      <Select
        caption="down"
        value={y ?? "none"}
        options={[["none", "nothing"], ...axes]}
        onChange={(name) => setSearch({ y: name })}
      />
      <Select
        caption="colour"
        value={metric}
        options={metrics.map((each) => [each, headingOf(each)])}
        onChange={(name) => setSearch({ metric: name })}
      />
    </div>
  );
}

function CellGrid({ launch, metric }: { readonly launch: LaunchAnswer; readonly metric: string }) {
  const { x, y } = useAxes(launch);
  const grid = toGrid(launch.grid, x, y);
  const heat = heatOf(launch.grid, metric);
  const best = bestCell(launch.grid, metric);
  const box = (cell: LaunchCell) => (
    <CellBox key={cell.index ?? cell.run} cell={cell} heat={heat(cell)} best={cell === best} metric={metric} />
  );
  return (
    <section className="panel" aria-label="Grid">
      <div className="table-scroll panel-body">
        <table className="launch-grid">
          <thead>
            <tr>
              <th scope="col" className="muted">
                {y === null ? "" : `${y} ↓`} {x} →
              </th>
              {grid.columns.map((column) => (
                <th key={column} scope="col">
                  <code>{column}</code>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {grid.rows.map((row) => (
              <tr key={row}>
                <th scope="row">
                  <code>{row}</code>
                </th>
                {grid.columns.map((column) => (
                  <td key={column}>
                    {grid.cellsAt(row, column).map(box)}
                    {grid.cellsAt(row, column).length === 0 ? (
                      <span className="small one-line cell cell-none" title="not in the plan" />
                    ) : null}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
        {grid.unplaced.length === 0 ? null : (
          <p className="row wrap">
            <span className="muted">planned, nothing arrived:</span>
            {grid.unplaced.map(box)}
          </p>
        )}
      </div>
    </section>
  );
}

interface CellBoxProps {
  readonly cell: LaunchCell;
  readonly heat: { readonly value: number; readonly share: number } | null;
  readonly best: boolean;
  readonly metric: string;
}

function CellBox({ cell, heat, best, metric }: CellBoxProps) {
  const theme = useTheme();
  const colour = heat === null || Number.isNaN(heat.share) ? null : heatColour(heat.share, theme);
  const text = heat === null ? "" : metric === "duration" ? formatDuration(heat.value) : formatNumber(heat.value, 4);
  const title = `${cell.name} #${cell.index ?? "?"}: ${cell.status}${heat === null ? "" : `, ${headingOf(metric)} ${heat.value}`}`;
  const style = colour === null ? {} : { background: colour, color: inkOn(colour) };
  if (cell.run === null) {
    return (
      <span className="small one-line cell cell-missing" title={title}>
        #{cell.index}
      </span>
    );
  }
  return (
    <Link
      to="/runs/$id"
      params={{ id: cell.run }}
      className={`small one-line cell status-${cell.status}`}
      style={style}
      title={title}
    >
      {best ? <Icon name="star" size={12} /> : null}
      {text === "" ? cell.status : text}
    </Link>
  );
}

function CellTable({ launch, metric }: { readonly launch: LaunchAnswer; readonly metric: string }) {
  return (
    <section className="panel" aria-label="Runs of the launch">
      <Table
        rows={launch.grid}
        keyOf={(cell) => cell.index ?? cell.run ?? ""}
        columns={[
          { head: "index", cell: (cell) => cell.index ?? "–", look: "num" },
          {
            head: "run",
            cell: ({ run, name }) =>
              run === null ? (
                <span className="muted">nothing arrived</span>
              ) : (
                <RunLink id={run} look="one-line">
                  {name}
                </RunLink>
              ),
          },
          { head: "status", cell: (cell) => <Status status={cell.status} /> },
          ...launch.axes.map(({ name }) => ({
            head: name,
            cell: ({ context }: LaunchCell) => <code>{context[name] ?? ""}</code>,
          })),
          {
            head: headingOf(metric),
            cell: ({ cells: { [metric]: cell } }) =>
              cell === undefined ? (
                "–"
              ) : metric === "duration" ? (
                formatDuration(toNumber(cell.num) ?? Number.NaN)
              ) : (
                <ValueCell cell={cell} digits={4} />
              ),
            look: "num",
          },
        ]}
      />
    </section>
  );
}
