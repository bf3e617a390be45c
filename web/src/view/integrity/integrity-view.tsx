// What arrived, what did not, and what could not be understood.

import type { WorkerSequence } from "#api/contract/record.ts";
import { hasTrait } from "#protocol/facts.ts";
import { useRunApi, useRunClock, useRunMetrics } from "../../clock/run-clock.tsx";
import { useApi } from "../../data/use-api.ts";
import { MetricName } from "../../part/name.tsx";
import { AnswerPanel, Page, Panel, TablePanel } from "../../part/panel.tsx";
import { RunLink } from "../../part/run-link.tsx";
import { Alarming, Table } from "../../part/table.tsx";
import { describeProblem } from "../../text/describe-problem.ts";
import { formatCount, formatPercent } from "../../text/format-number.ts";
import { DataNotes } from "../run/overview.tsx";
import { FaultList } from "./fault-list.tsx";
import "./integrity.css";

export function IntegrityView() {
  const { run } = useRunClock();
  return (
    <Page>
      <DataNotes run={run} />
      <Sequences />
      {run.protocols.some((name) => hasTrait(name, "pipelines")) ? <Completeness /> : null}
      <NonFinite />
      <Faults />
      <SetAside />
    </Page>
  );
}

function Sequences() {
  const gaps = useRunApi("gaps", {});
  return (
    <AnswerPanel title="sequence numbers" of={gaps}>
      {(data) => (
        <Table
          rows={data.sequences}
          keyOf={(row) => `${row.worker} ${row.incarnation}`}
          none="These records carry no sequence numbers, so a loss before they reached this server cannot be seen here."
          columns={[
            { head: "worker", cell: (row) => <WorkerName sequence={row} /> },
            { head: "received", cell: (row) => formatCount(row.received), look: "num" },
            { head: "duplicates", cell: (row) => formatCount(row.duplicates), look: "num" },
            { head: "missing", cell: (row) => <Alarming count={row.missing} />, look: "num" },
            { head: "conflicts", cell: (row) => formatCount(row.conflicts), look: "num" },
            { head: "over the sequence", cell: (row) => <SequenceBar sequence={row} />, width: "45%" },
          ]}
        />
      )}
    </AnswerPanel>
  );
}

function WorkerName({ sequence: { worker, incarnation } }: { readonly sequence: WorkerSequence }) {
  return (
    <>
      {worker === "" ? <span className="one-line">no worker id</span> : worker}
      {incarnation > 1 ? <span className="muted"> start {incarnation}</span> : null}
    </>
  );
}

function SequenceBar({ sequence }: { readonly sequence: WorkerSequence }) {
  const first = BigInt(sequence.first_seq);
  const length = Number(BigInt(sequence.last_seq) - first) + 1;
  const words =
    sequence.gaps.length === 0
      ? `all of ${sequence.first_seq} to ${sequence.last_seq}`
      : `missing ${sequence.gaps
          .map((gap) => (gap.from_seq === gap.to_seq ? gap.from_seq : `${gap.from_seq}–${gap.to_seq}`))
          .slice(0, 12)
          .join(", ")}`;
  return (
    <div title={words}>
      <div className="seq-bar" role="img" aria-label={words}>
        {sequence.gaps.map((gap) => {
          const from = Number(BigInt(gap.from_seq) - first) / length;
          const width = (Number(BigInt(gap.to_seq) - BigInt(gap.from_seq)) + 1) / length;
          return <i key={gap.from_seq} style={{ left: `${from * 100}%`, width: `max(2px, ${width * 100}%)` }} />;
        })}
      </div>
      <span className="muted clip">{words}</span>
    </div>
  );
}

function Completeness() {
  const { run } = useRunClock();
  const completeness = useRunApi("completeness", {});
  const graph = useRunApi("graph", {});
  const labels = new Map(graph.data?.nodes.map(({ id, label }) => [id, label]));
  return (
    <AnswerPanel
      title="pipeline records"
      label="Completeness"
      side={<RunLink id={run.id} view="pipeline" />}
      of={completeness}
    >
      {({ status, summary, ...data }) => (
        <dl className="facts panel-body">
          <dt>verdict</dt>
          <dd className={status === "complete" ? "status-completed" : "status-warn"}>
            {status}
            {status === "complete"
              ? " — every edge of the record arrived; whether the run succeeded is another question"
              : ""}
          </dd>
          <dt>nodes</dt>
          <dd>
            {summary.nodes_observed} of {summary.nodes_total_expected ?? "an unknown number"}
            {summary.coverage_pct === null ? "" : ` (${formatPercent(summary.coverage_pct / 100)})`}
          </dd>
          <dt>start, end</dt>
          <dd>
            {summary.has_start ? "start arrived" : "no start"}, {summary.has_end ? "end arrived" : "no end"}
          </dd>
          <Names name="problems" list={data.problems.map(describeProblem)} />
          <Names name="never ran" list={data.missing_nodes} labels={labels} />
          <Names name="not declared" list={data.orphan_nodes} labels={labels} />
          <Names name="not finished" list={data.nonterminal_nodes} labels={labels} />
        </dl>
      )}
    </AnswerPanel>
  );
}

interface NamesProps {
  readonly name: string;
  readonly list: readonly string[];
  /** What those of the list are called that are ids. */
  readonly labels?: ReadonlyMap<string, string>;
}

function Names({ name, list, labels }: NamesProps) {
  if (list.length === 0) return null;
  return (
    <>
      <dt>{name}</dt>
      <dd>
        {list.map((each) => (
          <div key={each}>
            {labels?.get(each)} <code className={labels === undefined ? "" : "muted"}>{each}</code>
          </div>
        ))}
      </dd>
    </>
  );
}

function NonFinite() {
  const bad = useRunMetrics().filter(({ nan, pos_inf, neg_inf, odd }) => nan + pos_inf + neg_inf + odd > 0);
  return (
    <TablePanel
      title="values that are not finite numbers"
      label="Values that are not finite"
      rows={bad}
      keyOf={(metric) => `${metric.phase} ${metric.key}`}
      columns={[
        { head: "metric", cell: (metric) => <MetricName metric={metric} /> },
        { head: "NaN", cell: (metric) => formatCount(metric.nan), look: "num" },
        { head: "+Inf", cell: (metric) => formatCount(metric.pos_inf), look: "num" },
        { head: "−Inf", cell: (metric) => formatCount(metric.neg_inf), look: "num" },
        { head: "no number", cell: (metric) => formatCount(metric.odd), look: "num" },
        { head: "of points", cell: (metric) => formatCount(metric.count), look: "num" },
      ]}
    />
  );
}

function Faults() {
  const faults = useRunApi("runFaults", { query: { limit: 200 } });
  return (
    <AnswerPanel title="faults" of={faults}>
      {(data) => <FaultList faults={data.faults} />}
    </AnswerPanel>
  );
}

/** Nobody can say whose they are before they are applied. */
function SetAside() {
  const faults = useApi("faults", { query: { limit: 100, code: ["record_set_aside"] } });
  const found = faults.data?.faults ?? [];
  if (found.length === 0) return null;
  return (
    <Panel title="set aside">
      <p className="panel-body muted">
        The server accepted these records of the workspace and could not apply them when they came. They may belong to
        this run.
      </p>
      <FaultList faults={found} />
    </Panel>
  );
}
