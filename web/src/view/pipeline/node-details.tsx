// One node in full: error, parameters with their sources, checks, context, the record itself.

import { useState } from "react";
import type { GraphNode } from "#api/contract/pipeline.ts";
import { useRunClock } from "../../clock/run-clock.tsx";
import { Button } from "../../part/button.tsx";
import { Fact, IdFact } from "../../part/facts.tsx";
import { Icon } from "../../part/icon.tsx";
import { Details } from "../../part/panel.tsx";
import { JsonView } from "../../part/record.tsx";
import { Status } from "../../part/status.tsx";
import { Table } from "../../part/table.tsx";
import { describeDetails } from "../../text/describe-details.ts";
import { formatMs, toOffsetNs } from "../../text/format-time.ts";

interface NodeDetailsProps {
  readonly node: GraphNode;
  /** The node at which the pipeline failed, if it did. */
  readonly failed: GraphNode | undefined;
  readonly onClose: () => void;
}

export function NodeDetails({ node, failed, onClose }: NodeDetailsProps) {
  const [raw, setRaw] = useState(false);
  const { startNs, setWindow } = useRunClock();
  const makeWindow = () => {
    if (node.start_ns === null || node.end_ns === null) return;
    const from = toOffsetNs(node.start_ns, startNs);
    setWindow({ from, to: Math.max(from + 1e6, toOffsetNs(node.end_ns, startNs)) });
  };
  return (
    <Details label={`Node ${node.label}`} title={node.label} hint={node.processor} onClose={onClose}>
      <div className="row wrap">
        <Status status={node.status} />
        {node.executions > 1 ? <span className="chip">ran {node.executions} times</span> : null}
        {node.role === "" ? null : <span className="chip">{node.role}</span>}
      </div>
      {node.error === null ? null : (
        <div className="notice bad">
          <div>
            <strong>{node.error.type}</strong>
            <pre>{node.error.message}</pre>
          </div>
        </div>
      )}
      {node.status === "missing" ? (
        <p className="muted">
          It is part of the pipeline, but no record of it arrived
          {failed === undefined ? "." : `: the pipeline failed at ${failed.label}, so it probably never ran.`}
        </p>
      ) : null}
      <dl className="facts">
        <Fact name="wall, CPU" value={`${timeOf(node.wall_ms)}, ${timeOf(node.cpu_ms)}`} />
        <Fact name="processor" value={<code>{node.processor}</code>} />
        <IdFact id={node.id} />
      </dl>
      {node.start_ns === null || node.end_ns === null ? null : (
        <Button look="small" onClick={makeWindow}>
          make it the window
        </Button>
      )}
      {node.parameters.length === 0 ? null : (
        <>
          <h3>parameters</h3>
          <Table
            rows={node.parameters}
            keyOf={({ name }) => name}
            columns={[
              { cell: ({ name }) => name },
              { cell: ({ value }) => <code>{value}</code> },
              { cell: ({ source }) => source, look: "muted" },
            ]}
          />
        </>
      )}
      <Keys title="created" keys={node.context.created} />
      <Keys title="updated" keys={node.context.updated} />
      <Keys title="read" keys={node.context.read} />
      {node.checks.length === 0 ? null : (
        <>
          <h3>checks</h3>
          <ul className="stack" style={{ gap: 4 }}>
            {node.checks.map((check) => (
              <li key={`${check.when} ${check.code}`} className="row wrap">
                <span
                  className={`badge ${check.result === "PASS" ? "status-completed" : check.result === "FAIL" ? "status-failed" : "status-warn"}`}
                >
                  <Icon
                    name={check.result === "PASS" ? "check" : check.result === "FAIL" ? "cross" : "warning"}
                    size={14}
                  />
                  {check.code}
                </span>
                <span className="muted">{check.when}</span>
                {check.result === "PASS" ? null : <p className="check-why">{describeDetails(check.details)}</p>}
              </li>
            ))}
          </ul>
        </>
      )}
      {node.record === "" ? null : (
        <>
          <Button look="small" aria-expanded={raw} onClick={() => setRaw(!raw)}>
            {raw ? "hide the record" : "show the record"}
          </Button>
          {raw ? <JsonView text={node.record} /> : null}
        </>
      )}
    </Details>
  );
}

/** Clients send whole milliseconds. */
export function timeOf(ms: number | null): string {
  return ms === null ? "–" : ms < 1 ? "<1 ms" : formatMs(ms);
}

function Keys({ title, keys }: { readonly title: string; readonly keys: readonly string[] }) {
  if (keys.length === 0) return null;
  return (
    <div className="row wrap">
      <span className="muted">{title}</span>
      {keys.map((key) => (
        <span key={key} className={`chip chip-${title}`}>
          <span className="clip">{key}</span>
        </span>
      ))}
    </div>
  );
}
