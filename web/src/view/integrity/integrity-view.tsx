// What arrived, what did not, and what could not be understood.

import { Link } from "@tanstack/react-router";
import type { WorkerSequence } from "#api/contract/record.ts";
import { hasTrait } from "#protocol/facts.ts";
import { useRunClock } from "../../clock/run-clock.tsx";
import { useApi } from "../../data/use-api.ts";
import { Icon } from "../../part/icon.tsx";
import { Answer } from "../../part/notice.tsx";
import { describeProblem } from "../../text/describe-problem.ts";
import { formatCount, formatPercent } from "../../text/format-number.ts";
import { DataNotes } from "../run/overview.tsx";
import { FaultList } from "./fault-list.tsx";
import "./integrity.css";

export function IntegrityView() {
  const { run } = useRunClock();
  return (
    <div className="scroll">
      <div className="page stack">
        <DataNotes run={run} />
        <Sequences />
        {run.protocols.some((name) => hasTrait(name, "pipelines")) ? <Completeness /> : null}
        <NonFinite />
        <Faults />
        <SetAside />
      </div>
    </div>
  );
}

function Sequences() {
  const { run } = useRunClock();
  const gaps = useApi("gaps", { params: { id: run.id } });
  return (
    <section className="panel" aria-label="Sequence numbers">
      <header className="panel-head">
        <h2>sequence numbers</h2>
      </header>
      <Answer of={gaps} rows={3}>
        {(data) =>
          data.sequences.length === 0 ? (
            <p className="panel-body muted">
              These records carry no sequence numbers, so a loss before they reached this server cannot be seen here.
            </p>
          ) : (
            <div className="table-scroll">
              <table className="table">
                <thead>
                  <tr>
                    <th>worker</th>
                    <th className="num">received</th>
                    <th className="num">duplicates</th>
                    <th className="num">missing</th>
                    <th className="num">conflicts</th>
                    <th style={{ width: "45%" }}>over the sequence</th>
                  </tr>
                </thead>
                <tbody>
                  {data.sequences.map((sequence) => (
                    <SequenceRow key={`${sequence.worker} ${sequence.incarnation}`} sequence={sequence} />
                  ))}
                </tbody>
              </table>
            </div>
          )
        }
      </Answer>
    </section>
  );
}

function SequenceRow({ sequence }: { readonly sequence: WorkerSequence }) {
  return (
    <tr>
      <td>
        {sequence.worker === "" ? "no worker id" : sequence.worker}
        {sequence.incarnation > 1 ? <span className="muted"> start {sequence.incarnation}</span> : null}
      </td>
      <td className="num">{formatCount(sequence.received)}</td>
      <td className="num">{formatCount(sequence.duplicates)}</td>
      <td className={`num ${sequence.missing > 0 ? "status-failed" : ""}`}>{formatCount(sequence.missing)}</td>
      <td className="num">{formatCount(sequence.conflicts)}</td>
      <td>
        <SequenceBar sequence={sequence} />
      </td>
    </tr>
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
  const completeness = useApi("completeness", { params: { id: run.id } });
  return (
    <section className="panel" aria-label="Completeness">
      <header className="panel-head">
        <h2>pipeline records</h2>
        <span className="grow" />
        <Link to="/runs/$id/pipeline" params={{ id: run.id }}>
          pipeline
        </Link>
      </header>
      <Answer of={completeness} rows={3}>
        {(data) => (
          <dl className="facts panel-body">
            <dt>verdict</dt>
            <dd className={data.status === "complete" ? "status-completed" : "status-warn"}>
              {data.status}
              {data.status === "complete"
                ? " — every edge of the record arrived; whether the run succeeded is another question"
                : ""}
            </dd>
            <dt>nodes</dt>
            <dd>
              {data.summary.nodes_observed} of {data.summary.nodes_total_expected ?? "an unknown number"}
              {data.summary.coverage_pct === null ? "" : ` (${formatPercent(data.summary.coverage_pct / 100)})`}
            </dd>
            <dt>start, end</dt>
            <dd>
              {data.summary.has_start ? "start arrived" : "no start"}, {data.summary.has_end ? "end arrived" : "no end"}
            </dd>
            {data.problems.length === 0 ? null : <Names name="problems" list={data.problems.map(describeProblem)} />}
            {data.missing_nodes.length === 0 ? null : <Names name="never ran" list={data.missing_nodes} />}
            {data.orphan_nodes.length === 0 ? null : <Names name="not declared" list={data.orphan_nodes} />}
            {data.nonterminal_nodes.length === 0 ? null : <Names name="not finished" list={data.nonterminal_nodes} />}
          </dl>
        )}
      </Answer>
    </section>
  );
}

function Names({ name, list }: { readonly name: string; readonly list: readonly string[] }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>
        {list.map((each) => (
          <code key={each} style={{ display: "block" }}>
            {each}
          </code>
        ))}
      </dd>
    </>
  );
}

function NonFinite() {
  const { run } = useRunClock();
  const metrics = useApi("metrics", { params: { id: run.id } }, { enabled: run.counts.metrics > 0 });
  const bad =
    metrics.data?.metrics.filter((metric) => metric.nan + metric.pos_inf + metric.neg_inf + metric.odd > 0) ?? [];
  if (bad.length === 0) return null;
  return (
    <section className="panel" aria-label="Values that are not finite">
      <header className="panel-head">
        <h2>values that are not finite numbers</h2>
      </header>
      <table className="table">
        <thead>
          <tr>
            <th>metric</th>
            <th className="num">NaN</th>
            <th className="num">+Inf</th>
            <th className="num">−Inf</th>
            <th className="num">no number</th>
            <th className="num">of points</th>
          </tr>
        </thead>
        <tbody>
          {bad.map((metric) => (
            <tr key={`${metric.phase} ${metric.key}`}>
              <td>
                {metric.key} <span className="muted">{metric.phase}</span>
              </td>
              <td className="num">{formatCount(metric.nan)}</td>
              <td className="num">{formatCount(metric.pos_inf)}</td>
              <td className="num">{formatCount(metric.neg_inf)}</td>
              <td className="num">{formatCount(metric.odd)}</td>
              <td className="num">{formatCount(metric.count)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Faults() {
  const { run } = useRunClock();
  const faults = useApi("runFaults", { params: { id: run.id }, query: { limit: 200 } });
  return (
    <section className="panel" aria-label="Faults">
      <header className="panel-head">
        <h2>faults</h2>
      </header>
      <Answer of={faults} rows={2}>
        {(data) =>
          data.faults.length === 0 ? (
            <p className="panel-body badge status-completed">
              <Icon name="check" size={14} /> Everything that arrived was understood.
            </p>
          ) : (
            <FaultList faults={data.faults} />
          )
        }
      </Answer>
    </section>
  );
}

/** Nobody can say whose they are before they are applied. */
function SetAside() {
  const faults = useApi("faults", { query: { limit: 100, code: ["record_set_aside"] } });
  const found = faults.data?.faults ?? [];
  if (found.length === 0) return null;
  return (
    <section className="panel" aria-label="Set aside">
      <header className="panel-head">
        <h2>set aside</h2>
      </header>
      <p className="panel-body muted">
        The server accepted these records of the workspace and could not apply them when they came. They may belong to
        this run.
      </p>
      <FaultList faults={found} />
    </section>
  );
}
