// Checkpoints, the best one marked, and every file the run named.

import { useState } from "react";
import type { ArtifactRow, CheckpointRow } from "#api/contract/record.ts";
import type { Run } from "#api/contract/run.ts";
import { useRunApi, useRunClock } from "../../clock/run-clock.tsx";
import { urlOf } from "../../data/client.ts";
import { Button, CopyButton } from "../../part/button.tsx";
import { Icon } from "../../part/icon.tsx";
import { Empty } from "../../part/notice.tsx";
import { AnswerPanel, Page } from "../../part/panel.tsx";
import { Table } from "../../part/table.tsx";
import { When } from "../../part/when.tsx";
import { formatBytes, formatFloat } from "../../text/format-number.ts";
import { FilePreview, kindOfFile } from "./file-preview.tsx";

export function Files() {
  const { run } = useRunClock();
  if (run.counts.checkpoints === 0 && run.counts.artifacts === 0) {
    return (
      <Empty title="No files yet.">
        <p>
          Artifacts and checkpoints that a client logs are listed here. Paths are text: this server never opens them.
        </p>
      </Empty>
    );
  }
  return (
    <Page>
      {run.counts.checkpoints === 0 ? null : <Checkpoints />}
      {run.counts.artifacts === 0 ? null : <Artifacts />}
    </Page>
  );
}

export function Checkpoints() {
  const { run } = useRunClock();
  const checkpoints = useRunApi("checkpoints", { query: { limit: 1000 } });
  const isBest = (each: CheckpointRow) =>
    each.ts_ns === run.best_checkpoint?.ts_ns && each.path === run.best_checkpoint.path;
  return (
    <AnswerPanel
      title="checkpoints"
      side={run.best_checkpoint === null ? undefined : <BestLine best={run.best_checkpoint} />}
      of={checkpoints}
    >
      {(data) => (
        <Table
          rows={data.checkpoints}
          keyOf={(each) => `${each.ts_ns} ${each.path} ${each.worker}`}
          columns={[
            { head: "step", cell: (each) => each.step ?? "–", look: "num" },
            { head: "path", cell: (each) => <CheckpointPath checkpoint={each} isBest={isBest(each)} /> },
            { head: "metrics", cell: (each) => metricsText(each.metrics) },
            { head: "when", cell: (each) => <When ns={each.ts_ns} /> },
          ]}
        />
      )}
    </AnswerPanel>
  );
}

function metricsText(metrics: CheckpointRow["metrics"]): string {
  return Object.entries(metrics)
    .map(([name, value]) => `${name} ${formatFloat(value)}`)
    .join(", ");
}

function CheckpointPath({ checkpoint, isBest }: { readonly checkpoint: CheckpointRow; readonly isBest: boolean }) {
  return (
    <span className="row">
      <code className="file-path">{checkpoint.path}</code>
      {isBest ? (
        <span
          className="badge status-completed"
          title={checkpoint.best_key === "" ? undefined : `best by ${checkpoint.best_key}`}
        >
          <Icon name="star" size={14} /> best
        </span>
      ) : checkpoint.is_best ? (
        <span className="muted">was best</span>
      ) : null}
    </span>
  );
}

function Artifacts() {
  const { run } = useRunClock();
  const artifacts = useRunApi("artifacts", { query: { limit: 1000 } });
  return (
    <AnswerPanel title="artifacts" of={artifacts}>
      {(data) => (
        <table className="table">
          <thead>
            <tr>
              <th>name</th>
              <th>type</th>
              <th>path</th>
              <th className="num">size</th>
              <th>checksum</th>
              <th>when</th>
            </tr>
          </thead>
          <tbody>
            {data.artifacts.map((each) => (
              <Artifact key={`${each.ts_ns} ${each.name} ${each.path}`} run={run.id} file={each} />
            ))}
          </tbody>
        </table>
      )}
    </AnswerPanel>
  );
}

function Artifact({ run, file }: { readonly run: string; readonly file: ArtifactRow }) {
  const [open, setOpen] = useState(false);
  const kind = file.stored ? kindOfFile(file.name, file.size_bytes === null ? null : Number(file.size_bytes)) : null;
  return (
    <>
      <tr>
        <td>
          <span className="row file-name">
            {file.stored ? (
              <a href={urlOf("artifact", { params: { id: run, name: file.name } })} download>
                <Icon name="download" size={14} /> {file.name}
              </a>
            ) : (
              file.name
            )}
            {kind === null ? null : (
              <Button
                look="quiet small"
                aria-expanded={open}
                aria-label={`${open ? "Close" : "Show"} ${file.name}`}
                onClick={() => setOpen(!open)}
              >
                {open ? "close" : "show"}
              </Button>
            )}
          </span>
        </td>
        <td className="muted">{file.type}</td>
        <td>
          <code className="file-path">{file.path}</code>
        </td>
        <td className="num">{file.size_bytes === null ? "–" : formatBytes(Number(file.size_bytes))}</td>
        <td>
          <code className="muted" title={file.checksum}>
            {file.checksum.slice(0, 20)}
          </code>
        </td>
        <td>
          <When ns={file.ts_ns} />
        </td>
      </tr>
      {open ? (
        <tr>
          <td colSpan={6}>
            <FilePreview run={run} name={file.name} />
          </td>
        </tr>
      ) : null}
    </>
  );
}

/** The best one in words, also when the table below is too long to show it. */
function BestLine({ best }: { readonly best: NonNullable<Run["best_checkpoint"]> }) {
  const value = best.metrics[best.best_key];
  return (
    <span className="row" style={{ minWidth: 0 }}>
      <span className="badge status-completed">
        <Icon name="star" size={14} /> best
      </span>
      {best.step === null ? null : <span className="one-line">step {best.step}</span>}
      {value === undefined ? null : (
        <span className="one-line">
          {best.best_key} {formatFloat(value)}
        </span>
      )}
      <code className="clip muted">{best.path}</code>
      <CopyButton text={best.path} label="copy the path of the best checkpoint" />
    </span>
  );
}
