// The first page of a run: what it is, how it ended, its numbers, who worked on it.

import type { ReactNode } from "react";
import type { Run } from "#api/contract/run.ts";
import type { MetricInfo } from "#api/contract/series.ts";
import { useRunClock, useRunMetrics } from "../../clock/run-clock.tsx";
import { CopyButton } from "../../part/button.tsx";
import { Fact, Facts, IdFact } from "../../part/facts.tsx";
import { Icon } from "../../part/icon.tsx";
import { MetricName } from "../../part/name.tsx";
import { Loading } from "../../part/notice.tsx";
import { Page, Panel } from "../../part/panel.tsx";
import { RunLink } from "../../part/run-link.tsx";
import { Status } from "../../part/status.tsx";
import { Table } from "../../part/table.tsx";
import { When } from "../../part/when.tsx";
import { formatCount, formatFloat } from "../../text/format-number.ts";
import { formatTime, toMs } from "../../text/format-time.ts";
import { RunAlerts } from "../rules/alert-list.tsx";
import { Findings } from "./findings.tsx";
import { KeyCurves, LastLines, OneClock, SentenceLine, TextTable, useFreshOverview } from "./overview-panels.tsx";
import { durationParts } from "./run-sentence.ts";

export function Overview() {
  const { run } = useRunClock();
  useFreshOverview(run);
  return (
    <Page>
      <SentenceLine run={run} />
      <ErrorPanel run={run} />
      <Findings run={run} />
      <RunAlerts />
      <OneClock run={run} />
      <KeyCurves run={run} />
      <OverviewPanels run={run}>
        <TextTable title="parameters" rows={ownParams(run)} run={run.id} />
        <LastLines run={run} />
        <TextTable title="environment" rows={told(run.env)} run={run.id} />
      </OverviewPanels>
    </Page>
  );
}

/** Leaves out what is empty. */
function told(values: Run["env"]): [string, string][] {
  return Object.entries(values).filter(([, value]) => !["", "{}", "[]"].includes(value));
}

/** What a run says of its environment is shown as that alone. */
function ownParams({ params, env }: Run): [string, string][] {
  return Object.entries(params).filter(([name]) => env[name] === undefined);
}

/** `children` are panels that only the overview has; the report shows the same facts in full. */
export function OverviewPanels({ run, children }: { readonly run: Run; readonly children?: ReactNode }) {
  return (
    <>
      <DataNotes run={run} />
      <div className="overview-columns">
        <Metrics run={run} />
        {children}
        <Panel title="run" body="">
          <About run={run} />
        </Panel>
        <Panel title="received" body="">
          <Counts run={run} />
        </Panel>
        {run.best_checkpoint === null ? null : (
          <Panel title="best checkpoint" body="">
            <BestCheckpoint best={run.best_checkpoint} />
          </Panel>
        )}
        {run.worker_list.length === 0 ? null : (
          <Panel title={`workers (${run.worker_list.length})`} body="">
            <Workers run={run} />
          </Panel>
        )}
        {run.notes === "" ? null : (
          <Panel title="notes" body="">
            <pre>{run.notes}</pre>
          </Panel>
        )}
      </div>
    </>
  );
}

/** What a reader of the run's data should know. */
export function DataNotes({ run }: { readonly run: Run }) {
  if (run.notes_on_data.length === 0) return null;
  return (
    <div className="notice">
      <Icon name="info" />
      <span>
        {run.notes_on_data.map((note) => (
          <p key={note}>{note}</p>
        ))}
      </span>
    </div>
  );
}

export function ErrorPanel({ run }: { readonly run: Run }) {
  const error = run.error_detail;
  if (error === null) return null;
  return (
    <section className="notice bad stack" role="alert" style={{ gap: 8 }}>
      <strong>
        {error.type}
        {error.type === "" || error.message === "" ? "" : ": "}
        <span style={{ fontWeight: 400, whiteSpace: "pre-wrap" }}>{error.message}</span>
      </strong>
      {error.traceback === "" || error.traceback.startsWith("NoneType: None") ? null : (
        <pre className="traceback">{error.traceback}</pre>
      )}
    </section>
  );
}

function About({ run }: { readonly run: Run }) {
  const others = run.aliases.filter((each) => each !== run.id);
  return (
    <dl className="facts">
      <IdFact id={run.id} />
      <Fact name="sent as" value={run.name_sent === run.name ? null : run.name_sent || null} />
      <Fact name="experiment" value={run.experiment || null} />
      {run.tags.length === 0 ? null : (
        <>
          <dt>tags</dt>
          <dd className="row wrap">
            {run.tags.map((tag) => (
              <span key={tag} className="chip">
                <span className="clip">{tag}</span>
              </span>
            ))}
          </dd>
        </>
      )}
      <Fact name="started" value={run.start_ns === null ? "–" : formatTime(toMs(run.start_ns))} />
      <Fact name="ended" value={run.end_ns === null ? "–" : formatTime(toMs(run.end_ns))} />
      {run.durations.map((each) => (
        <Fact
          key={each.worker}
          name={each.worker === "" ? "took" : `${each.worker} took`}
          value={durationParts(each)}
        />
      ))}
      <Fact name="last received" value={<When ns={run.updated_ns} />} />
      <Fact name="parent" value={run.parent === null ? null : <RunLink id={run.parent} />} />
      <Fact name="also known as" value={run.aliases.length < 2 ? null : others.join(", ")} />
      {Object.entries(run.source).map(([name, value]) => (
        <Fact key={name} name={name.replaceAll("_", " ")} value={value} />
      ))}
    </dl>
  );
}

function Metrics({ run }: { readonly run: Run }) {
  const metrics = useRunMetrics();
  const finals = Object.entries(run.final_metrics);
  if (run.counts.metrics === 0 && finals.length === 0) return null;
  const rows = [...finals.map(([key, last]): MetricRow => ({ key, phase: "final", last })), ...metrics.slice(0, 60)];
  return (
    <Panel title="metrics" side={<RunLink id={run.id} view="charts" />}>
      <div className="table-scroll" style={{ maxHeight: 420 }}>
        {rows.length === 0 ? <Loading rows={3} /> : null}
        <Table
          look="metrics-table"
          rows={rows}
          keyOf={(row) => `${row.count === undefined ? "final" : row.phase} ${row.key}`}
          columns={[
            { head: "metric", cell: (row) => <MetricName metric={row} /> },
            { head: "last", cell: ({ last }) => formatFloat(last), look: "num" },
            { head: "min", cell: ({ min }) => (min === undefined ? "" : formatFloat(min)), look: "num" },
            { head: "max", cell: ({ max }) => (max === undefined ? "" : formatFloat(max)), look: "num" },
            { head: "points", cell: (row) => <Points of={row} />, look: "num" },
          ]}
        />
      </div>
    </Panel>
  );
}

/** A metric, or only a last value that the run gave at its end. */
type MetricRow = Pick<MetricInfo, "key" | "phase" | "last"> & Partial<MetricInfo>;

function Points({ of: { count, nan = 0, pos_inf = 0, neg_inf = 0 } }: { readonly of: MetricRow }) {
  const odd = nan + pos_inf + neg_inf;
  return (
    <>
      {count === undefined ? "" : formatCount(count)}
      {odd > 0 ? <span className="status-warn"> ✕{odd}</span> : null}
    </>
  );
}

/** What the client called best, last. */
function BestCheckpoint({ best }: { readonly best: NonNullable<Run["best_checkpoint"]> }) {
  return (
    <dl className="facts">
      <dt>path</dt>
      <dd className="row">
        <code style={{ overflowWrap: "anywhere" }}>{best.path}</code>
        <CopyButton text={best.path} label="copy the path" />
      </dd>
      <Fact name="step" value={best.step === null ? null : formatCount(Number(best.step))} />
      <Fact name="best by" value={best.best_key || null} />
      {Object.entries(best.metrics).map(([name, value]) => (
        <Fact key={name} name={name} value={formatFloat(value)} />
      ))}
      <Fact name="when" value={<When ns={best.ts_ns} />} />
    </dl>
  );
}

function Counts({ run }: { readonly run: Run }) {
  const rows = Object.entries(run.counts).filter(([, count]) => count > 0);
  if (rows.length === 0) return <p className="muted">nothing yet</p>;
  return <Facts rows={rows.map(([name, count]) => [name, formatCount(count)])} />;
}

function Workers({ run }: { readonly run: Run }) {
  return (
    <ul className="stack" style={{ gap: 4 }}>
      {run.worker_list.map((worker) => (
        <li key={`${worker.worker} ${worker.rank}`} className="row">
          <span className="clip grow">
            {worker.rank === null ? worker.worker || "no worker id" : `rank ${worker.rank}`}
          </span>
          <span className="muted clip">{worker.host}</span>
          {worker.incarnations > 1 ? <span className="chip">started {worker.incarnations} times</span> : null}
          {worker.connected ? <span className="chip">connected</span> : null}
          <Status status={worker.status} />
        </li>
      ))}
    </ul>
  );
}
