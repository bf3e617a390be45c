// Panels of the overview that answer at a glance: the verdict, the curves people look at first, parameters, environment
// and the last lines.

import { useMemo } from "react";
import type { Run } from "#api/contract/run.ts";
import { useTheme } from "../../app/theme.ts";
import { groupMetrics, type MetricPanel, panelId, panelTitle } from "../../chart/metric-groups.ts";
import { spanColours } from "../../chart/span-colours.ts";
import { Spark } from "../../chart/spark.tsx";
import { useRunApi, useRunClock, useRunMetrics } from "../../clock/run-clock.tsx";
import { useApi } from "../../data/use-api.ts";
import { useLiveEvents } from "../../data/use-live.ts";
import { Icon } from "../../part/icon.tsx";
import { Name } from "../../part/name.tsx";
import { Panel } from "../../part/panel.tsx";
import { RunLink } from "../../part/run-link.tsx";
import { Table } from "../../part/table.tsx";
import { useNow } from "../../part/when.tsx";
import { parseAnsi } from "../../text/ansi.ts";
import { formatFloat } from "../../text/format-number.ts";
import { formatClock, toMs } from "../../text/format-time.ts";
import { toBoxes } from "../timeline/boxes.ts";
import { Minimap } from "../timeline/minimap.tsx";
import { toSentence } from "./run-sentence.ts";

const formats = new Intl.ListFormat("en");
const curvesMax = 4;
const rowsMax = 24;
const linesMax = 6;
const freshMs = 3_000;

export function SentenceLine({ run }: { readonly run: Run }) {
  const now = useNow(5_000, run.status === "running");
  const { text, cautions } = toSentence(run, now);
  return (
    <section className="row verdict" aria-label="Verdict">
      <p className="grow">
        {text} {run.protocols.length > 1 ? `Recorded in ${formats.format(run.protocols)}, on one clock.` : ""}
      </p>
      {cautions.length === 0 ? null : (
        <RunLink id={run.id} view="integrity" look="status-warn row">
          <Icon name="warning" size={14} /> {cautions.join(", ")}
        </RunLink>
      )}
    </section>
  );
}

/** Charts and the log grow by themselves; the overview asks again for the little it shows of them. */
export function useFreshOverview({ id }: Run): void {
  useLiveEvents(({ name, data }, refresher) => {
    if ((name !== "metrics" && name !== "logs") || data.run !== id) return;
    const route = name === "metrics" ? "series" : "logs";
    refresher.ask(route, { queryKey: [route] }, freshMs);
  }, id);
}

/** Where the time of the whole run went, with its loss over it: what several clients sent, on one clock. */
export function OneClock({ run }: { readonly run: Run }) {
  const { startNs, limits, window, brush } = useRunClock();
  const theme = useTheme();
  const has = run.counts.spans + run.counts.nodes > 0;
  const spans = useRunApi("spans", { query: { width: 2048 } }, { enabled: has, keep: true });
  const boxes = useMemo(() => (spans.data === undefined ? null : toBoxes(spans.data, startNs)), [spans.data, startNs]);
  const colours = useMemo(() => spanColours(run.id, spans.data?.names ?? [], theme), [run.id, spans.data, theme]);
  if (!has || spans.data?.extent === null) return null;
  return (
    <Panel title="on one clock" side={<RunLink id={run.id} view="timeline" />}>
      <Minimap base={boxes} colours={colours} extent={limits} view={window ?? limits} onMove={brush} />
    </Panel>
  );
}

/** Losses and scores first; each leads to its chart, large. */
export function KeyCurves({ run }: { readonly run: Run }) {
  const panels = groupMetrics(useRunMetrics(), "")
    .flatMap((group) => (group.name === "system" ? [] : group.panels))
    .filter((panel) => panel.info.count > 1)
    .sort((a, b) => Number(/loss/.test(b.key)) - Number(/loss/.test(a.key)))
    // Two clients of one training send the same metric; the one that says its phase tells more.
    .filter((panel, at, all) => panel.phase !== "" || !all.some(({ key }, i) => i !== at && key === panel.key))
    .slice(0, curvesMax);
  if (panels.length === 0) return null;
  return (
    <section className="tiles" aria-label="Key curves">
      {panels.map((panel) => (
        <KeyCurve key={panelId(panel)} run={run} metric={panel} />
      ))}
    </section>
  );
}

function KeyCurve({ run, metric }: { readonly run: Run; readonly metric: MetricPanel }) {
  const { key, phase } = metric;
  const answer = useApi(
    "series",
    { body: { runs: [run.id], keys: [key], phase, axis: "time", buckets: 160 } },
    { keep: true, staleMs: 10_000 },
  );
  const series = answer.data?.series[0];
  const name = panelTitle(metric);
  return (
    <RunLink id={run.id} view="charts" search={{ panel: panelId(metric) }} look="panel stack key-curve">
      <span className="row">
        <Name>{name}</Name>
        <span className="grow" />
        <strong className="num">{series === undefined ? "" : formatFloat(series.last.at(-1))}</strong>
      </span>
      {answer.error !== null && series === undefined ? (
        <span className="status-warn" style={{ height: 72 }}>
          {answer.error.message}
        </span>
      ) : series === undefined ? (
        <output className="skeleton" aria-label="Loading" style={{ height: 72 }} />
      ) : (
        <Spark
          last={series.last}
          min={series.min}
          max={series.max}
          mean={series.mean}
          width={300}
          height={72}
          label={`${name} over time`}
        />
      )}
    </RunLink>
  );
}

interface TextTableProps {
  readonly title: string;
  readonly rows: readonly (readonly [name: string, text: string])[];
  /** The run that has more of them: then only the first are shown, each in a line. */
  readonly run?: string;
  /** Said where there are none; else nothing is shown then. */
  readonly none?: string;
}

/** Names and what they stand for. */
export function TextTable({ title, rows, run, none }: TextTableProps) {
  if (rows.length === 0 && none === undefined) return null;
  const all =
    run === undefined ? undefined : (
      <RunLink id={run} view="params">
        {rows.length > rowsMax ? `all ${rows.length}` : "all"}
      </RunLink>
    );
  return (
    <Panel title={title} side={all}>
      <Table
        look={run === undefined ? "param-table" : "key-texts"}
        rows={run === undefined ? rows : rows.slice(0, rowsMax)}
        keyOf={([name]) => name}
        {...(none === undefined ? {} : { none })}
        columns={[
          { cell: ([name]) => <Name>{name}</Name>, look: "muted" },
          { cell: ([, text]) => <code title={text}>{text}</code> },
        ]}
      />
    </Panel>
  );
}

export function LastLines({ run }: { readonly run: Run }) {
  const logs = useRunApi(
    "logs",
    { query: { limit: linesMax, order: "desc" } },
    { enabled: run.counts.logs > 0, keep: true },
  );
  const lines = [...(logs.data?.logs ?? [])].reverse();
  if (lines.length === 0) return null;
  return (
    <Panel
      title="last lines"
      side={
        <RunLink id={run.id} view="logs">
          log
        </RunLink>
      }
    >
      <ol className="mono last-lines">
        {lines.map((line) => (
          <li key={line.id} className={`row level-${line.level}`}>
            <time className="muted">{formatClock(toMs(line.ts_ns)).slice(0, 8)}</time>
            <span className="clip" title={parseAnsi(line.msg.slice(0, 2000)).text}>
              {parseAnsi(line.msg.slice(0, 500)).text}
            </span>
          </li>
        ))}
      </ol>
    </Panel>
  );
}
