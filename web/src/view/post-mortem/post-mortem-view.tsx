// Why the run died, on one page: the cause, when each worker was last heard of, what was open, the last metrics.

import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { PostMortem } from "#api/contract/post-mortem.ts";
import { useRunClock } from "../../clock/run-clock.tsx";
import { useApi } from "../../data/use-api.ts";
import { Icon } from "../../part/icon.tsx";
import { Answer } from "../../part/notice.tsx";
import { formatCount, formatFloat } from "../../text/format-number.ts";
import { formatClock, formatDuration, formatTime, toMs } from "../../text/format-time.ts";

export function PostMortemView() {
  const { run } = useRunClock();
  const answer = useApi(
    "postMortem",
    { params: { id: run.id } },
    run.status === "running" ? { refetchMs: 10_000 } : {},
  );
  return (
    <div className="scroll">
      <div className="page stack">
        <Answer of={answer}>{(found) => <Found found={found} run={run.id} />}</Answer>
      </div>
    </div>
  );
}

const calm: ReadonlySet<PostMortem["cause"]> = new Set(["alive", "completed"]);

function Found({ found, run }: { readonly found: PostMortem; readonly run: string }) {
  return (
    <>
      <section className={`notice ${calm.has(found.cause) ? "" : "bad"} stack`} aria-label="Cause" style={{ gap: 4 }}>
        <strong>{found.text}</strong>
        {found.evidence.map((line) => (
          <span key={line}>{line}</span>
        ))}
        <span className="muted">
          {found.last_step === null ? "" : `last step ${found.last_step}`}
          {found.end_ns === null ? "" : `, last record ${formatTime(toMs(found.end_ns))}`}
        </span>
      </section>
      {found.collective !== null && found.cause !== "hung_collective" ? (
        <p className="notice warn">
          <Icon name="warning" /> {found.collective.text}
        </p>
      ) : null}
      {found.refused.map((reason) => (
        <p key={reason} className="notice">
          <Icon name="info" /> {reason}
        </p>
      ))}
      {found.traceback === "" ? null : (
        <Panel title="traceback">
          <pre className="traceback">{found.traceback}</pre>
        </Panel>
      )}
      {found.lines.length === 0 ? null : <Lines found={found} run={run} />}
      {found.workers.length === 0 ? null : <Workers found={found} />}
      {found.open.length === 0 ? null : <Open found={found} />}
      {found.metrics.length === 0 ? null : <Metrics found={found} />}
    </>
  );
}

function Panel({
  title,
  side,
  children,
}: {
  readonly title: string;
  readonly side?: ReactNode;
  readonly children: ReactNode;
}) {
  return (
    <section className="panel" aria-label={title}>
      <header className="panel-head">
        <h2>{title}</h2>
        <span className="grow" />
        {side}
      </header>
      <div className="panel-body table-scroll">{children}</div>
    </section>
  );
}

function Lines({ found, run }: { readonly found: PostMortem; readonly run: string }) {
  const all = (
    <Link to="/runs/$id/logs" params={{ id: run }}>
      all lines
    </Link>
  );
  return (
    <Panel title="lines that tell" side={all}>
      <pre className="traceback">
        {found.lines
          .map(({ ts_ns, worker, text }) => `${formatClock(toMs(ts_ns))} ${worker === "" ? "" : `${worker} `}${text}`)
          .join("\n")}
      </pre>
    </Panel>
  );
}

function Workers({ found }: { readonly found: PostMortem }) {
  return (
    <Panel title="last signs of life">
      <table className="table">
        <thead>
          <tr>
            <th>worker</th>
            <th>last heard</th>
            <th className="num">before the last</th>
            <th className="num">step</th>
            <th>doing</th>
          </tr>
        </thead>
        <tbody>
          {found.workers.map(({ worker, last_ns, behind_ns, last_step, doing }) => (
            <tr key={worker}>
              <td>{worker === "" ? "no worker id" : worker}</td>
              <td>{formatTime(toMs(last_ns))}</td>
              <td className="num">{behind_ns === "0" ? "" : formatDuration(Number(behind_ns))}</td>
              <td className="num">{last_step}</td>
              <td>{doing}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  );
}

function Open({ found }: { readonly found: PostMortem }) {
  return (
    <Panel title="open when it died">
      <table className="table">
        <thead>
          <tr>
            <th>scope</th>
            <th>rank</th>
            <th>since</th>
            <th>holds</th>
          </tr>
        </thead>
        <tbody>
          {found.open.map(({ id, name, rank, start_ns, holds }) => (
            <tr key={id}>
              <td title={id}>{name === "" ? <span className="muted">never arrived itself</span> : name}</td>
              <td>{rank}</td>
              <td>{start_ns === null ? "" : formatClock(toMs(start_ns))}</td>
              <td>{holds}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  );
}

function Metrics({ found }: { readonly found: PostMortem }) {
  return (
    <Panel title="last metrics">
      <table className="table metrics-table">
        <thead>
          <tr>
            <th>metric</th>
            <th className="num">last</th>
            <th className="num">step</th>
            <th className="num">not finite</th>
          </tr>
        </thead>
        <tbody>
          {found.metrics.map(({ key, phase, last, last_step, nan, pos_inf, neg_inf }) => {
            const odd = nan + pos_inf + neg_inf;
            return (
              <tr key={`${phase} ${key}`}>
                <td>
                  {key} <span className="muted">{phase}</span>
                </td>
                <td className="num">{formatFloat(last)}</td>
                <td className="num">{last_step}</td>
                <td className="num">{odd === 0 ? "" : <span className="status-warn">{formatCount(odd)}</span>}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </Panel>
  );
}
