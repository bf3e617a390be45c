// The first page of a run: what it is, how it ended, its numbers, who worked on it.

import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Run } from "#api/contract/run.ts";
import { useRunClock } from "../../clock/run-clock.tsx";
import { useApi } from "../../data/use-api.ts";
import { CopyButton } from "../../part/copy.tsx";
import { Icon } from "../../part/icon.tsx";
import { Name } from "../../part/name.tsx";
import { Status } from "../../part/status.tsx";
import { When } from "../../part/when.tsx";
import { formatCount, formatFloat } from "../../text/format-number.ts";
import { formatTime, toMs } from "../../text/format-time.ts";
import { RunAlerts } from "../rules/run-alerts.tsx";
import { durationParts } from "./durations.ts";
import { Findings } from "./findings.tsx";
import { KeyCurves, KeyTexts, LastLines, VerdictLine } from "./overview-panels.tsx";

export function Overview() {
  const { run } = useRunClock();
  return (
    <div className="scroll">
      <div className="page stack">
        <VerdictLine run={run} />
        <Findings run={run} />
        <RunAlerts run={run} />
        <KeyCurves run={run} />
        <OverviewPanels run={run}>
          <KeyTexts title="parameters" rows={ownParams(run)} to="/runs/$id/params" run={run.id} />
          <LastLines run={run} />
          <KeyTexts title="environment" rows={told(run.env)} to="/runs/$id/params" run={run.id} />
        </OverviewPanels>
      </div>
    </div>
  );
}

/** Without what says nothing. */
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
      {run.error_detail === null ? null : <ErrorPanel run={run} />}
      <DataNotes run={run} />
      <div className="overview-columns">
        <Metrics run={run} />
        {children}
        <Panel title="run">
          <Facts run={run} />
        </Panel>
        <Panel title="received">
          <Counts run={run} />
        </Panel>
        {run.best_checkpoint === null ? null : (
          <Panel title="best checkpoint">
            <BestCheckpoint best={run.best_checkpoint} />
          </Panel>
        )}
        {run.worker_list.length === 0 ? null : (
          <Panel title={`workers (${run.worker_list.length})`}>
            <Workers run={run} />
          </Panel>
        )}
        {run.notes === "" ? null : (
          <Panel title="notes">
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

function Panel({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section className="panel" aria-label={title}>
      <header className="panel-head">
        <h2>{title}</h2>
      </header>
      <div className="panel-body">{children}</div>
    </section>
  );
}

function ErrorPanel({ run }: { readonly run: Run }) {
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

function Facts({ run }: { readonly run: Run }) {
  return (
    <dl className="facts">
      <dt>id</dt>
      <dd className="row">
        <code className="clip">{run.id}</code>
        <CopyButton text={run.id} label="copy the id" />
      </dd>
      {run.name_sent !== "" && run.name_sent !== run.name ? <Fact name="sent as" value={run.name_sent} /> : null}
      {run.experiment === "" ? null : <Fact name="experiment" value={run.experiment} />}
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
      <dt>started</dt>
      <dd>{run.start_ns === null ? "–" : formatTime(toMs(run.start_ns))}</dd>
      <dt>ended</dt>
      <dd>{run.end_ns === null ? "–" : formatTime(toMs(run.end_ns))}</dd>
      {run.durations.map((each) => (
        <Fact
          key={each.worker}
          name={each.worker === "" ? "took" : `${each.worker} took`}
          value={durationParts(each)}
        />
      ))}
      <dt>last received</dt>
      <dd>
        <When ns={run.updated_ns} />
      </dd>
      {run.parent === null ? null : (
        <>
          <dt>parent</dt>
          <dd>
            <Link to="/runs/$id" params={{ id: run.parent }}>
              {run.parent}
            </Link>
          </dd>
        </>
      )}
      {run.aliases.length < 2 ? null : (
        <Fact name="also known as" value={run.aliases.filter((each) => each !== run.id).join(", ")} />
      )}
      {Object.entries(run.source).map(([name, value]) => (
        <Fact key={name} name={name.replaceAll("_", " ")} value={value} />
      ))}
    </dl>
  );
}

function Fact({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </>
  );
}

function Metrics({ run }: { readonly run: Run }) {
  const metrics = useApi("metrics", { params: { id: run.id } }, { enabled: run.counts.metrics > 0 });
  const finals = Object.entries(run.final_metrics);
  if (run.counts.metrics === 0 && finals.length === 0) return null;
  return (
    <section className="panel" aria-label="metrics">
      <header className="panel-head">
        <h2>metrics</h2>
        <span className="grow" />
        <Link to="/runs/$id/charts" params={{ id: run.id }}>
          charts
        </Link>
      </header>
      <div className="table-scroll" style={{ maxHeight: 420 }}>
        <table className="table metrics-table">
          <thead>
            <tr>
              <th>metric</th>
              <th className="num">last</th>
              <th className="num">min</th>
              <th className="num">max</th>
              <th className="num">points</th>
            </tr>
          </thead>
          <tbody>
            {finals.map(([name, value]) => (
              <tr key={`final ${name}`}>
                <td>
                  <Name>{name}</Name> <span className="muted">final</span>
                </td>
                <td className="num">{formatFloat(value)}</td>
                <td />
                <td />
                <td />
              </tr>
            ))}
            {metrics.data?.metrics.slice(0, 60).map((metric) => (
              <tr key={`${metric.phase} ${metric.key}`}>
                <td>
                  <Name>{metric.key}</Name> <span className="muted">{metric.phase}</span>
                </td>
                <td className="num">{formatFloat(metric.last)}</td>
                <td className="num">{formatFloat(metric.min)}</td>
                <td className="num">{formatFloat(metric.max)}</td>
                <td className="num">
                  {formatCount(metric.count)}
                  {metric.nan + metric.pos_inf + metric.neg_inf > 0 ? (
                    <span className="status-warn"> ✕{metric.nan + metric.pos_inf + metric.neg_inf}</span>
                  ) : null}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
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
      {best.step === null ? null : <Fact name="step" value={formatCount(Number(best.step))} />}
      {best.best_key === "" ? null : <Fact name="best by" value={best.best_key} />}
      {Object.entries(best.metrics).map(([name, value]) => (
        <Fact key={name} name={name} value={formatFloat(value)} />
      ))}
      <dt>when</dt>
      <dd>
        <When ns={best.ts_ns} />
      </dd>
    </dl>
  );
}

function Counts({ run }: { readonly run: Run }) {
  const rows = Object.entries(run.counts).filter(([, count]) => count > 0);
  return (
    <dl className="facts">
      {rows.map(([name, count]) => (
        <Fact key={name} name={name} value={formatCount(count)} />
      ))}
      {rows.length === 0 ? <dd className="muted">nothing yet</dd> : null}
    </dl>
  );
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
