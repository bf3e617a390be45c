// One line that says what this run is and how it is doing, and what can be done with it.

import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { Run } from "#api/contract/run.ts";
import { urlOf } from "../../data/client.ts";
import { useChange } from "../../data/use-api.ts";
import { Dialog } from "../../part/dialog.tsx";
import { Icon } from "../../part/icon.tsx";
import { Menu } from "../../part/menu.tsx";
import { Problem } from "../../part/notice.tsx";
import { Status } from "../../part/status.tsx";
import { Took, When } from "../../part/when.tsx";
import { formatCount, formatNumber, toNumber } from "../../text/format-number.ts";
import { EditDialog } from "./edit-dialog.tsx";

export function RunHead({ run }: { readonly run: Run }) {
  const commit = run.source["git_commit"] ?? run.source["commit"] ?? "";
  const branch = run.source["git_branch"] ?? run.source["branch"] ?? "";
  return (
    <header className="run-head">
      <Status status={run.status} raw={run.status_raw} />
      <Progress run={run} />
      <span title="how long it took">
        <Took start={run.start_ns} end={run.end_ns} running={run.status === "running"} />
      </span>
      <span className="muted">
        started <When ns={run.start_ns} />
      </span>
      {run.protocols.map((protocol) => (
        <span key={protocol} className="chip">
          {protocol}
        </span>
      ))}
      {run.workers > 1 ? <span className="chip">{run.workers} workers</span> : null}
      {branch === "" && commit === "" ? null : (
        <code className="muted" title={commit}>
          {branch}
          {commit === "" ? "" : `@${commit.slice(0, 8)}`}
        </code>
      )}
      {run.launch === null ? null : (
        <Link to="/launches/$id/$attempt" params={{ id: run.launch.id, attempt: String(run.launch.attempt) }}>
          launch {run.launch.id.slice(0, 8)} #{run.launch.index ?? "?"}
        </Link>
      )}
      <Integrity run={run} />
      <span className="grow" />
      <Actions run={run} />
    </header>
  );
}

function Progress({ run }: { readonly run: Run }) {
  const total = toNumber(run.progress?.total);
  const current = toNumber(run.progress?.current);
  if (run.progress === null || current === null) return null;
  const unit = run.progress.unit;
  if (total === null || total <= 0) {
    return (
      <span className="muted">
        {unit} {formatNumber(current)}
      </span>
    );
  }
  const share = Math.max(0, Math.min(1, current / total));
  return (
    <span className="row" title={run.progress.message}>
      <span className="muted">
        {unit} {formatNumber(current)}/{formatNumber(total)}
      </span>
      <span className="meter" aria-hidden="true">
        <i style={{ width: `${share * 100}%` }} />
      </span>
      {Math.floor(share * 100)} %
    </span>
  );
}

function Integrity({ run }: { readonly run: Run }) {
  const { faults, missing, nonfinite } = run.integrity;
  const parts = [
    faults > 0 ? `${formatCount(faults)} ${faults === 1 ? "fault" : "faults"}` : "",
    missing > 0 ? `${formatCount(missing)} missing` : "",
    nonfinite > 0 ? `${formatCount(nonfinite)} not finite` : "",
  ].filter((part) => part !== "");
  return (
    <Link
      to="/runs/$id/integrity"
      params={{ id: run.id }}
      className={`badge ${parts.length === 0 ? "status-completed" : "status-warn"}`}
    >
      <Icon name={parts.length === 0 ? "check" : "warning"} size={14} />
      {parts.length === 0 ? "whole" : parts.join(", ")}
    </Link>
  );
}

function Actions({ run }: { readonly run: Run }) {
  const navigate = useNavigate();
  const [asking, setAsking] = useState<"edit" | "delete" | null>(null);
  const remove = useChange("deleteRun", ["runs"]);
  const archive = useChange("patchRun", ["run", "runs"]);
  const save = (format: "jsonl" | "chrome" | "csv") => {
    const query = format === "csv" ? { format, kind: "metrics" as const } : { format };
    window.location.assign(urlOf("exportRun", { params: { id: run.id }, query }));
  };
  return (
    <>
      <Menu
        trigger={
          <button type="button" className="button icon" aria-label="More actions">
            <Icon name="more" />
          </button>
        }
        entries={[
          { label: "Edit name, tags, notes", icon: "tag", act: () => setAsking("edit") },
          {
            label: "Compare with others",
            icon: "compare",
            act: () => void navigate({ to: "/compare", search: { run: [run.id] } }),
          },
          { label: "Export everything (JSONL)", icon: "download", act: () => save("jsonl") },
          { label: "Export the trace (Perfetto)", icon: "download", act: () => save("chrome") },
          { label: "Export metrics (CSV)", icon: "download", act: () => save("csv") },
          {
            label: run.archived ? "Bring back from the archive" : "Archive",
            icon: "down",
            act: () => archive.mutate({ params: { id: run.id }, body: { archived: !run.archived } }),
          },
          { label: "Delete", icon: "trash", danger: true, act: () => setAsking("delete") },
        ]}
      />
      <EditDialog run={run} open={asking === "edit"} onClose={() => setAsking(null)} />
      <Dialog
        title={`Delete ${run.name}`}
        open={asking === "delete"}
        onClose={() => setAsking(null)}
        foot={
          <>
            <button type="button" className="button" onClick={() => setAsking(null)}>
              keep it
            </button>
            <button
              type="button"
              className="button danger"
              onClick={() =>
                remove.mutate({ params: { id: run.id } }, { onSuccess: () => void navigate({ to: "/runs" }) })
              }
            >
              delete the run
            </button>
          </>
        }
      >
        <p>
          Its rows and blobs are removed from this server. A job that still runs starts it anew with its next record.
        </p>
        {remove.error === null ? null : <Problem error={remove.error} />}
      </Dialog>
    </>
  );
}
