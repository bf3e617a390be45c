// Checkpoints, the best one marked, and every file the run named.

import { useState } from "react";
import type { ArtifactRow, CheckpointRow } from "#api/contract/record.ts";
import type { Run } from "#api/contract/run.ts";
import { useRunClock } from "../../clock/run-clock.tsx";
import { urlOf } from "../../data/client.ts";
import { useApi } from "../../data/use-api.ts";
import { CopyButton } from "../../part/copy.tsx";
import { Icon } from "../../part/icon.tsx";
import { Answer, Empty } from "../../part/notice.tsx";
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
    <div className="scroll">
      <div className="page stack">
        <Checkpoints />
        <Artifacts />
      </div>
    </div>
  );
}

export function Checkpoints() {
  const { run } = useRunClock();
  const checkpoints = useApi("checkpoints", { params: { id: run.id }, query: { limit: 1000 } });
  return (
    <section className="panel" aria-label="checkpoints">
      <header className="panel-head">
        <h2>checkpoints</h2>
        {run.best_checkpoint === null ? null : <BestLine best={run.best_checkpoint} />}
      </header>
      <Answer of={checkpoints}>
        {(data) => {
          const isBest = (each: CheckpointRow) =>
            each.ts_ns === run.best_checkpoint?.ts_ns && each.path === run.best_checkpoint.path;
          return (
            <div className="table-scroll">
              <table className="table">
                <thead>
                  <tr>
                    <th className="num">step</th>
                    <th>path</th>
                    <th>metrics</th>
                    <th>when</th>
                  </tr>
                </thead>
                <tbody>
                  {data.checkpoints.map((each) => (
                    <tr key={`${each.ts_ns} ${each.path} ${each.worker}`}>
                      <td className="num">{each.step ?? "–"}</td>
                      <td>
                        <span className="row">
                          <code className="file-path">{each.path}</code>
                          {isBest(each) ? (
                            <span className="badge status-completed" title={`best by ${each.best_key}`}>
                              <Icon name="star" size={14} /> best
                            </span>
                          ) : each.is_best ? (
                            <span className="muted">was best</span>
                          ) : null}
                        </span>
                      </td>
                      <td>
                        {Object.entries(each.metrics)
                          .map(([name, value]) => `${name} ${formatFloat(value)}`)
                          .join(", ")}
                      </td>
                      <td>
                        <When ns={each.ts_ns} />
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          );
        }}
      </Answer>
    </section>
  );
}

function Artifacts() {
  const { run } = useRunClock();
  const artifacts = useApi("artifacts", { params: { id: run.id }, query: { limit: 1000 } });
  return (
    <section className="panel" aria-label="artifacts">
      <header className="panel-head">
        <h2>artifacts</h2>
      </header>
      <Answer of={artifacts}>
        {(data) => (
          <div className="table-scroll">
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
          </div>
        )}
      </Answer>
    </section>
  );
}

function Artifact({ run, file }: { readonly run: string; readonly file: ArtifactRow }) {
  const [open, setOpen] = useState(false);
  const kind = file.stored ? kindOfFile(file.name, file.size_bytes === null ? null : Number(file.size_bytes)) : null;
  return (
    <>
      <tr>
        <td>
          <span className="row">
            {file.stored ? (
              <a href={urlOf("artifact", { params: { id: run, name: file.name } })} download>
                <Icon name="download" size={14} /> {file.name}
              </a>
            ) : (
              file.name
            )}
            {kind === null ? null : (
              <button
                type="button"
                className="button quiet small"
                aria-expanded={open}
                aria-label={`${open ? "Close" : "Show"} ${file.name}`}
                onClick={() => setOpen(!open)}
              >
                {open ? "close" : "show"}
              </button>
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
    <span className="row grow" style={{ minWidth: 0 }}>
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
