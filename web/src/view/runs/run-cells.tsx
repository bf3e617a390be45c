// What stands in a cell of the runs table.

import { Link } from "@tanstack/react-router";
import type { Cell, RunGroup, RunSummary } from "#api/contract/run.ts";
import { Spark } from "../../chart/spark.tsx";
import { Icon } from "../../part/icon.tsx";
import { Name } from "../../part/name.tsx";
import { Status } from "../../part/status.tsx";
import { Took, When } from "../../part/when.tsx";
import { countOf, formatCount, formatDecimals, formatNumber, toNumber } from "../../text/format-number.ts";
import { shareOf } from "../run/run-sentence.ts";
import type { ColumnFormat } from "./grid-model.ts";

interface RunCellProps {
  readonly run: RunSummary;
  readonly field: string;
  readonly format: ColumnFormat;
}

export function RunCell({ run, field, format }: RunCellProps) {
  switch (field) {
    case "name":
      return <NameCell run={run} />;
    case "status":
      return <StatusCell run={run} />;
    case "protocol":
      return <Formats of={run} />;
    case "start":
      return <When ns={run.start_ns} />;
    case "duration":
      return <Took start={run.start_ns} end={run.end_ns} running={run.status === "running"} />;
    case "spark":
      return run.spark === null || run.spark === undefined ? null : (
        <Spark
          last={run.spark.last}
          min={run.spark.min}
          max={run.spark.max}
          label={`${run.spark.key} of ${run.name}`}
        />
      );
    default: {
      const cell = run.cells[field];
      return cell === undefined ? null : <ValueCell cell={cell} {...format} />;
    }
  }
}

function NameCell({ run }: { readonly run: RunSummary }) {
  return (
    <span className="row name-cell" style={{ gap: 6 }}>
      <Link
        to="/runs/$id/charts"
        params={{ id: run.id }}
        className="run-name"
        title={`${run.name}\n${run.id}`}
        // A name that is cut in two would be heard as two.
        aria-label={run.name}
      >
        <Name>{run.name}</Name>
      </Link>
      {run.tags.slice(0, 1).map((tag) => (
        <span key={tag} className="chip" title={tag}>
          <span className="clip">{tag}</span>
        </span>
      ))}
      {run.tags.length < 2 ? null : (
        <span className="chip" title={run.tags.slice(1).join("\n")}>
          +{run.tags.length - 1}
        </span>
      )}
    </span>
  );
}

/** In which formats a run was recorded: the clients of one training may use several. */
export function Formats({ of: { protocols } }: { readonly of: Pick<RunSummary, "protocols"> }) {
  return protocols.map((protocol) => (
    <span key={protocol} className="chip">
      {protocol}
    </span>
  ));
}

function StatusCell({ run }: { readonly run: RunSummary }) {
  const { progress } = run;
  const share = shareOf(progress);
  return (
    <span className="row" style={{ gap: 6 }}>
      <Status status={run.status} raw={run.status_raw} />
      {run.status === "running" && share !== null ? (
        <span className="muted" title={`${progress?.current} of ${progress?.total} ${progress?.unit}`}>
          {Math.floor(Math.min(1, share) * 100)} %
        </span>
      ) : null}
      <Warning run={run} />
    </span>
  );
}

/** What is wrong with the records of a run, in words. */
export function damageOf({ faults, missing, nonfinite }: RunSummary["integrity"]): string {
  const parts = [
    faults > 0 ? countOf(faults, "fault") : "",
    missing > 0 ? `${countOf(missing, "event")} missing` : "",
    nonfinite > 0 ? nonfiniteText(nonfinite) : "",
  ];
  return parts.filter((part) => part !== "").join(", ");
}

function Warning({ run }: { readonly run: RunSummary }) {
  const text = damageOf(run.integrity);
  if (text === "") return null;
  return (
    <Link
      to="/runs/$id/integrity"
      params={{ id: run.id }}
      className="status-warn badge"
      title={text}
      aria-label={`Integrity: ${text}`}
    >
      <Icon name="warning" size={14} />
    </Link>
  );
}

function nonfiniteText(points: number): string {
  return `${countOf(points, "point")} ${points === 1 ? "is" : "are"} NaN or infinite`;
}

interface ValueCellProps {
  readonly cell: Cell;
  readonly digits: number;
  readonly decimals?: number | null;
}

export function ValueCell({ cell, digits, decimals = null }: ValueCellProps) {
  const number = toNumber(cell.num);
  if (number === null) {
    return (
      <span className="clip" title={cell.text}>
        {cell.text}
      </span>
    );
  }
  const bad = cell.nonfinite ?? 0;
  return (
    <span title={bad > 0 ? `${cell.text}; ${nonfiniteText(bad)}` : cell.text}>
      {Number.isFinite(number) ? (
        decimals === null ? (
          formatNumber(number, digits)
        ) : (
          formatDecimals(number, decimals)
        )
      ) : (
        <span className="status-failed">{formatNumber(number)}</span>
      )}
      {bad > 0 ? <span className="status-warn"> ✕{formatCount(bad)}</span> : null}
    </span>
  );
}

interface GroupCellProps {
  readonly group: RunGroup;
  readonly field: string;
  readonly digits: number;
}

export function GroupCell({ group, field, digits }: GroupCellProps) {
  if (field === "status") {
    const failed = group.statuses["failed"] ?? 0;
    const running = group.statuses["running"] ?? 0;
    return (
      <span className="muted">
        {formatCount(group.runs)}
        {running > 0 ? <span className="status-running"> {running} on</span> : null}
        {failed > 0 ? <span className="status-failed"> {failed} failed</span> : null}
      </span>
    );
  }
  const aggregate = group.aggregates[field];
  if (aggregate === undefined) return null;
  const { count, nonfinite, min, median, mean, max } = aggregate;
  const bad = nonfinite === 0 ? "" : `; NaN or infinite in ${countOf(nonfinite, "run")}`;
  return (
    <span
      className="row muted"
      style={{ gap: 4 }}
      title={`median ${median}, mean ${mean}, ${min} to ${max}, ${countOf(count, "run")}${bad}`}
    >
      <span className="clip">
        {median === null ? null : `~${formatNumber(median, Math.min(digits, 3))}`}
        {min === null || max === null || min === max ? null : (
          <small>
            {" "}
            {formatNumber(min, 2)}…{formatNumber(max, 2)}
          </small>
        )}
      </span>
      {nonfinite === 0 ? null : <span className="status-warn">✕{nonfinite}</span>}
    </span>
  );
}
