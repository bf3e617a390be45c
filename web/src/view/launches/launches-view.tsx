// Launches (sweeps) with what was planned and what came of it.

import { Link } from "@tanstack/react-router";
import { useCallback } from "react";
import type { LaunchSummary } from "#api/contract/launch.ts";
import { usePages } from "../../data/use-pages.ts";
import { CommandLine, Empty, Loading, Problem } from "../../part/notice.tsx";
import { Status } from "../../part/status.tsx";
import { Took, When } from "../../part/when.tsx";
import { describeProblem } from "../../text/describe-problem.ts";
import { formatCount } from "../../text/format-number.ts";
import "./launches.css";

export function LaunchesView() {
  const { pages, rows } = usePages("launches", { query: { limit: 200 } }, (answer) => answer.launches);
  const more = useCallback(() => void pages.fetchNextPage(), [pages.fetchNextPage]);
  if (pages.error !== null && rows.length === 0) {
    return (
      <div style={{ padding: 16 }}>
        <Problem error={pages.error} retry={() => void pages.refetch()} />
      </div>
    );
  }
  if (pages.isPending) return <Loading />;
  if (rows.length === 0) {
    return (
      <Empty title="No launches yet.">
        <p>A Semantiva run space appears here as one launch with a cell for each of its runs:</p>
        <CommandLine text={`curl --data-binary @sweep.trace.jsonl ${window.location.origin}/v1/trace-stream`} />
      </Empty>
    );
  }
  return (
    <div className="scroll">
      <table className="table">
        <thead>
          <tr>
            <th>launch</th>
            <th>attempt</th>
            <th>status</th>
            <th>runs</th>
            <th>records</th>
            <th>combined</th>
            <th>started</th>
            <th className="num">took</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((launch) => (
            <LaunchRow key={`${launch.id} ${launch.attempt}`} launch={launch} />
          ))}
        </tbody>
      </table>
      {pages.hasNextPage ? (
        <button type="button" className="button" onClick={more}>
          more
        </button>
      ) : null}
    </div>
  );
}

function LaunchRow({ launch }: { readonly launch: LaunchSummary }) {
  const { completeness } = launch;
  return (
    <tr>
      <td>
        <Link to="/launches/$id/$attempt" params={{ id: launch.id, attempt: String(launch.attempt) }} className="mono">
          {launch.id}
        </Link>
      </td>
      <td>
        {launch.attempt}
        {launch.attempts.length > 1 ? <span className="muted"> of {launch.attempts.length}</span> : null}
      </td>
      <td>
        <Status status={launch.status} raw={launch.status_raw} />
      </td>
      <td>
        <RunsBar launch={launch} />
      </td>
      <td
        className={completeness.status === "complete" ? "status-completed" : "status-warn"}
        title={completeness.problems.map(describeProblem).join(", ")}
      >
        {completeness.status}
      </td>
      <td className="muted">{launch.combine_mode.replace("_", " ")}</td>
      <td>
        <When ns={launch.start_ns} />
      </td>
      <td className="num">
        <Took start={launch.start_ns} end={launch.end_ns} running={launch.status === "running"} />
      </td>
    </tr>
  );
}

export function RunsBar({ launch }: { readonly launch: LaunchSummary }) {
  const planned = Math.max(launch.planned ?? launch.runs, launch.runs, 1);
  const parts = Object.entries(launch.statuses);
  const text = `${formatCount(launch.runs)} of ${launch.planned ?? "?"} runs${parts.map(([status, count]) => `, ${count} ${status}`).join("")}`;
  return (
    <span className="row" title={text}>
      <span className="runs-bar" role="img" aria-label={text}>
        {parts.map(([status, count]) => (
          <i key={status} className={`bar-${status}`} style={{ width: `${(count / planned) * 100}%` }} />
        ))}
      </span>
      {formatCount(launch.runs)}/{launch.planned ?? "?"}
    </span>
  );
}
