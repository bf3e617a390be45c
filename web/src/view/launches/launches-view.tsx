// Launches (sweeps) with what was planned and what came of it.

import { Link } from "@tanstack/react-router";
import type { LaunchSummary } from "#api/contract/launch.ts";
import { useFreshWithRuns } from "../../data/use-live.ts";
import { usePages } from "../../data/use-pages.ts";
import { Button } from "../../part/button.tsx";
import { Answer, CommandLine, Empty } from "../../part/notice.tsx";
import { Status } from "../../part/status.tsx";
import { type Column, Table } from "../../part/table.tsx";
import { Took, When } from "../../part/when.tsx";
import { describeProblem } from "../../text/describe-problem.ts";
import { formatCount } from "../../text/format-number.ts";
import "./launches.css";

export function LaunchesView() {
  useFreshWithRuns(["launches"], 5_000);
  const { pages, rows, more } = usePages("launches", { query: { limit: 200 } }, (answer) => answer.launches);
  return (
    <Answer of={pages}>
      {() =>
        rows.length === 0 ? (
          <Empty title="No launches yet.">
            <p>A Semantiva run space appears here as one launch with a cell for each of its runs:</p>
            <CommandLine text={`curl --data-binary @sweep.trace.jsonl ${window.location.origin}/v1/trace-stream`} />
          </Empty>
        ) : (
          <div className="scroll">
            <Table rows={rows} keyOf={(launch) => `${launch.id} ${launch.attempt}`} columns={columns} />
            {pages.hasNextPage ? <Button onClick={more}>more</Button> : null}
          </div>
        )
      }
    </Answer>
  );
}

const columns: readonly Column<LaunchSummary>[] = [
  {
    head: "launch",
    cell: ({ id, attempt }) => (
      <Link to="/launches/$id/$attempt" params={{ id, attempt: String(attempt) }} className="mono">
        {id}
      </Link>
    ),
  },
  {
    head: "attempt",
    cell: ({ attempt, attempts }) => (
      <>
        {attempt}
        {attempts.length > 1 ? <span className="muted"> of {attempts.length}</span> : null}
      </>
    ),
  },
  { head: "status", cell: (launch) => <Status status={launch.status} raw={launch.status_raw} /> },
  { head: "runs", cell: (launch) => <RunsBar launch={launch} /> },
  {
    head: "records",
    cell: ({ completeness: { status, problems } }) => (
      <span
        className={status === "complete" ? "status-completed" : "status-warn"}
        title={problems.map(describeProblem).join(", ")}
      >
        {status}
      </span>
    ),
  },
  { head: "combined", cell: (launch) => launch.combine_mode.replace("_", " "), look: "muted" },
  { head: "started", cell: (launch) => <When ns={launch.start_ns} /> },
  {
    head: "took",
    cell: ({ start_ns, end_ns, status }) => <Took start={start_ns} end={end_ns} running={status === "running"} />,
    look: "num",
  },
];

export function RunsBar({ launch }: { readonly launch: LaunchSummary }) {
  const planned = Math.max(launch.planned ?? launch.runs, launch.runs, 1);
  const parts = Object.entries(launch.statuses);
  const text = `${formatCount(launch.runs)} of ${launch.planned ?? "?"} runs${parts.map(([status, count]) => `, ${count} ${status}`).join("")}`;
  return (
    <span className="row" title={text}>
      <span className="runs-bar" role="img" aria-label={text}>
        {parts.map(([status, count]) => (
          <i key={status} className={`status-${status}`} style={{ width: `${(count / planned) * 100}%` }} />
        ))}
      </span>
      {formatCount(launch.runs)}/{launch.planned ?? "?"}
    </span>
  );
}
