// Why the run died, on one page: the cause, when each worker was last heard of, what was open, the last metrics.

import type { PostMortem } from "#api/contract/post-mortem.ts";
import type { Run } from "#api/contract/run.ts";
import { useRunApi, useRunClock } from "../../clock/run-clock.tsx";
import { Icon } from "../../part/icon.tsx";
import { MetricName } from "../../part/name.tsx";
import { Answer } from "../../part/notice.tsx";
import { Page, Panel, TablePanel } from "../../part/panel.tsx";
import { RunLink } from "../../part/run-link.tsx";
import { Alarming } from "../../part/table.tsx";
import { formatFloat } from "../../text/format-number.ts";
import { formatClock, formatDuration, formatTime, toMs } from "../../text/format-time.ts";

export function PostMortemView() {
  const { run } = useRunClock();
  const answer = useRunApi("postMortem", {}, run.status === "running" ? { refetchMs: 10_000 } : {});
  return (
    <Page>
      <Answer of={answer}>{(found) => <Found found={found} run={run} />}</Answer>
    </Page>
  );
}

const calm: ReadonlySet<PostMortem["cause"]> = new Set(["alive", "completed"]);

function Found({ found, run }: { readonly found: PostMortem; readonly run: Run }) {
  return (
    <>
      <section className={`notice ${calm.has(found.cause) ? "" : "bad"} stack`} aria-label="Cause" style={{ gap: 4 }}>
        <strong>{found.text}</strong>
        {found.evidence.map((line) => (
          <span key={line}>{line}</span>
        ))}
        <span className="muted">{lastOf(found).join(", ")}</span>
        {run.counts.nodes === 0 ? null : (
          <RunLink id={run.id} view="pipeline">
            show the pipeline
          </RunLink>
        )}
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
        <Panel title="traceback" body="">
          <pre className="traceback">{found.traceback}</pre>
        </Panel>
      )}
      {found.lines.length === 0 ? null : <Lines found={found} run={run.id} />}
      <Workers found={found} />
      <Open found={found} />
      <Metrics found={found} />
    </>
  );
}

function lastOf({ last_step, end_ns }: PostMortem): string[] {
  return [
    ...(last_step === null ? [] : [`last step ${last_step}`]),
    ...(end_ns === null ? [] : [`last record ${formatTime(toMs(end_ns))}`]),
  ];
}

function Lines({ found, run }: { readonly found: PostMortem; readonly run: string }) {
  const all = (
    <RunLink id={run} view="logs">
      all lines
    </RunLink>
  );
  return (
    <Panel title="lines that tell" side={all} body="">
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
    <TablePanel
      title="last signs of life"
      rows={found.workers}
      keyOf={({ worker }) => worker}
      columns={[
        { head: "worker", cell: ({ worker }) => worker || "no worker id" },
        { head: "last heard", cell: ({ last_ns }) => formatTime(toMs(last_ns)) },
        {
          head: "before the last",
          cell: ({ behind_ns }) => (behind_ns === "0" ? "" : formatDuration(Number(behind_ns))),
          look: "num",
        },
        { head: "step", cell: ({ last_step }) => last_step, look: "num" },
        { head: "doing", cell: ({ doing }) => doing },
      ]}
    />
  );
}

function Open({ found }: { readonly found: PostMortem }) {
  return (
    <TablePanel
      title="open when it died"
      rows={found.open}
      keyOf={({ id }) => id}
      columns={[
        {
          head: "scope",
          cell: ({ id, name }) => <span title={id}>{name || <span className="muted">never arrived itself</span>}</span>,
        },
        { head: "rank", cell: ({ rank }) => rank },
        { head: "since", cell: ({ start_ns }) => (start_ns === null ? "" : formatClock(toMs(start_ns))) },
        { head: "holds", cell: ({ holds }) => holds },
      ]}
    />
  );
}

function Metrics({ found }: { readonly found: PostMortem }) {
  const oddOf = ({ nan, pos_inf, neg_inf }: PostMortem["metrics"][number]) => nan + pos_inf + neg_inf;
  return (
    <TablePanel
      title="last metrics"
      look="metrics-table"
      rows={found.metrics}
      keyOf={({ key, phase }) => `${phase} ${key}`}
      columns={[
        { head: "metric", cell: (metric) => <MetricName metric={metric} /> },
        { head: "last", cell: ({ last }) => formatFloat(last), look: "num" },
        { head: "step", cell: ({ last_step }) => last_step, look: "num" },
        {
          head: "not finite",
          cell: (metric) => (oddOf(metric) === 0 ? "" : <Alarming count={oddOf(metric)} look="status-warn" />),
          look: "num",
        },
      ]}
    />
  );
}
