// How the server is doing: rates, lag, faults by reason, who is connected.

import { useState } from "react";
import type { HealthAnswer } from "#api/contract/admin.ts";
import { Spark } from "../../chart/spark.tsx";
import { useApi } from "../../data/use-api.ts";
import { useRunNames } from "../../data/use-run-names.ts";
import { Button } from "../../part/button.tsx";
import { Facts } from "../../part/facts.tsx";
import { Icon } from "../../part/icon.tsx";
import { Answer } from "../../part/notice.tsx";
import { AnswerPanel, Page, Panel, TablePanel } from "../../part/panel.tsx";
import { RunLink } from "../../part/run-link.tsx";
import { Alarming } from "../../part/table.tsx";
import { When } from "../../part/when.tsx";
import { countOf, formatBytes, formatCount, formatSi } from "../../text/format-number.ts";
import { formatMs } from "../../text/format-time.ts";
import { FaultList } from "../integrity/fault-list.tsx";
import "../integrity/integrity.css";
import "./health.css";

export function HealthView() {
  const health = useApi("health", {}, { refetchMs: 2_000 });
  return (
    <Page>
      <Answer of={health}>{(data) => <Health health={data} />}</Answer>
      <Faults />
    </Page>
  );
}

function Health({ health }: { readonly health: HealthAnswer }) {
  const { history, journal, store } = health;
  return (
    <>
      {health.problems.length === 0 ? (
        <p className="badge status-completed">
          <Icon name="check" size={14} /> All is well.
        </p>
      ) : (
        health.problems.map((problem) => (
          <p key={problem} className="notice warn" role="alert">
            <Icon name="warning" /> {problem}
          </p>
        ))
      )}
      <div className="tiles">
        <Tile
          title="events a second"
          value={formatSi(health.protocols.reduce((sum, row) => sum + row.events_per_s, 0))}
          values={history.events_per_s}
        />
        <Tile title="accepted to queryable" value={formatMs(journal.lag_ms)} values={history.lag_ms} />
        <Tile
          title="waiting to be stored"
          value={formatBytes(history.waiting_bytes.at(-1) ?? 0)}
          values={history.waiting_bytes}
        />
      </div>
      <TablePanel
        title="by protocol"
        rows={health.protocols}
        keyOf={(row) => row.protocol}
        columns={[
          { head: "protocol", cell: (row) => row.protocol },
          { head: "now", cell: (row) => `${formatSi(row.events_per_s)}/s`, look: "num" },
          { head: "accepted", cell: (row) => formatCount(row.accepted), look: "num" },
          { head: "duplicates", cell: (row) => formatCount(row.duplicates), look: "num" },
          { head: "faults", cell: (row) => <Alarming count={row.faults} />, look: "num" },
          { head: "refused", cell: (row) => <Alarming count={row.refused} />, look: "num" },
          { head: "missing", cell: (row) => <Alarming count={row.missing} look="status-warn" />, look: "num" },
        ]}
      />
      <div className="columns health-facts">
        <Panel title="journal" body="">
          <Facts
            rows={[
              [
                "on disk",
                `${formatBytes(Number(journal.bytes))} of ${formatBytes(Number(journal.budget_bytes))}, ${countOf(journal.segments, "file")}`,
              ],
              ["waiting", countOf(journal.waiting_events, "event")],
              ["last sync", formatMs(journal.last_sync_ms)],
              ["skipped records", formatCount(journal.skipped_records)],
            ]}
          />
        </Panel>
        <Panel title="store" body="">
          <Facts
            rows={[
              [
                "engine",
                `${store.engine}, ${store.up ? "up" : "down"}${store.restarts > 0 ? `, restarted ${store.restarts} times` : ""}`,
              ],
              ["holds", `${countOf(Number(store.rows), "row")}, ${formatBytes(Number(store.bytes))}`],
              ["insert p50, p95", `${formatMs(store.insert_p50_ms)}, ${formatMs(store.insert_p95_ms)}`],
              ["query p50, p95", `${formatMs(store.query_p50_ms)}, ${formatMs(store.query_p95_ms)}`],
            ]}
          />
        </Panel>
        <Panel title="server" body="stack">
          <Facts
            rows={[
              ["version", health.version],
              ["memory", formatBytes(health.memory_bytes)],
              ["pages watching", formatCount(health.subscribers)],
            ]}
          />
          <p className="muted">
            started <When ns={health.started_ns} />; the same for Prometheus at <a href="/metrics">/metrics</a>
          </p>
        </Panel>
      </div>
      <Connections health={health} />
    </>
  );
}

interface TileProps {
  readonly title: string;
  readonly value: string;
  readonly values: readonly number[];
}

function Tile({ title, value, values }: TileProps) {
  return (
    <section className="column panel health-tile" aria-label={title}>
      <span className="muted">{title}</span>
      <strong>{value}</strong>
      <Spark last={values} width={300} height={48} label={`${title}, the last ten minutes`} />
    </section>
  );
}

function Connections({ health }: { readonly health: HealthAnswer }) {
  const nameOf = useRunNames(health.connections.map(({ run }) => run));
  return (
    <TablePanel
      title={`connected workers (${health.connections.length})`}
      rows={health.connections}
      keyOf={(each) => each.id}
      none="No worker is connected. Clients that post over HTTP are not listed."
      columns={[
        { head: "worker", cell: ({ worker }) => worker || <span className="muted">no worker id</span> },
        {
          head: "run",
          cell: ({ run }) => (run === null ? "–" : <RunLink id={run}>{nameOf(run)}</RunLink>),
        },
        { head: "by", cell: ({ transport }) => transport, look: "muted" },
        { head: "peer", cell: ({ peer }) => <code>{peer}</code> },
        { head: "since", cell: ({ since_ns }) => <When ns={since_ns} /> },
        { head: "events", cell: ({ events }) => formatCount(events), look: "num" },
        { head: "bytes", cell: ({ bytes }) => formatBytes(bytes), look: "num" },
        {
          head: "commands",
          cell: (each) => (each.accepts_commands ? "accepted" : <span className="muted">not asked for</span>),
        },
      ]}
    />
  );
}

function Faults() {
  const [code, setCode] = useState<string | null>(null);
  const query = code === null ? { limit: 100 } : { limit: 100, code: [code] };
  const faults = useApi("faults", { query }, { refetchMs: 5_000, keep: true });
  // The counts of all reasons stay in sight while one of them is looked at.
  const all = useApi("faults", { query: { limit: 1 } }, { refetchMs: 5_000 });
  return (
    <AnswerPanel
      title="faults"
      side={Object.entries(all.data?.codes ?? {}).map(([each, count]) => (
        <Button
          key={each}
          look="small"
          aria-pressed={each === code}
          onClick={() => setCode(each === code ? null : each)}
        >
          {each} <span className="muted">{formatCount(count)}</span>
        </Button>
      ))}
      of={faults}
    >
      {(data) => <FaultList faults={data.faults} />}
    </AnswerPanel>
  );
}
