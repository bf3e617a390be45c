// What happened in a moment: steps and values with their extremes, spans and nodes, tensors, lines; and the ways that lead
// on from it.

import { useMemo } from "react";
import type { SeriesBody } from "#api/contract/series.ts";
import { useTheme } from "../app/theme.ts";
import { panelId } from "../chart/metric-groups.ts";
import { type PlotSeries, toPlotSeries } from "../chart/plot-data.ts";
import { extremeRow } from "../chart/scale.ts";
import { spanColour } from "../chart/span-colours.ts";
import { useApi } from "../data/use-api.ts";
import { Button } from "../part/button.tsx";
import { Name } from "../part/name.tsx";
import { RunLink } from "../part/run-link.tsx";
import { parseAnsi } from "../text/ansi.ts";
import { formatFloat, formatNumber } from "../text/format-number.ts";
import { formatDuration, formatElapsed, toOffsetNs } from "../text/format-time.ts";
import { useRunApi, useRunClock, useRunMetrics } from "./run-clock.tsx";
import { chooseStepMetric } from "./use-steps.ts";
import { formatPin, formatWindow, type TimeWindow } from "./window.ts";

export function MomentSpans({ moment }: { readonly moment: TimeWindow }) {
  const { run, startNs } = useRunClock();
  const theme = useTheme();
  const named = formatWindow(moment, startNs);
  const has = run.counts.spans + run.counts.nodes > 0;
  const query = { from_ns: named.from, to_ns: named.to };
  const spans = useRunApi("spanSummary", { query }, { enabled: has, keep: true, staleMs: 60_000 });
  const rows = [...(spans.data?.rows ?? [])].sort((a, b) => Number(b.wall_ns) - Number(a.wall_ns));
  return (
    <div className="row wrap moment-spans">
      {has ? null : <span className="muted">no spans in this run</span>}
      {spans.data !== undefined && rows.length === 0 ? <span className="muted">no span ran</span> : null}
      {rows.slice(0, 8).map((row) => (
        <span key={`${row.name} ${row.rank}`} className="chip" title={`${row.count} × ${row.name} in this moment`}>
          <i className="swatch" style={{ background: spanColour(run.id, row.name, theme) }} />
          <Name>{row.name}</Name> {formatDuration(Number(row.wall_ns))}
        </span>
      ))}
    </div>
  );
}

export function MomentLogs({ moment }: { readonly moment: TimeWindow }) {
  const { run, startNs } = useRunClock();
  const { from, to } = formatWindow({ from: moment.from, to: moment.to + 1 }, startNs);
  const logs = useRunApi(
    "logs",
    { query: { from_ns: from, to_ns: to, limit: 3, order: "desc", chars: 2_000 } },
    { enabled: run.counts.logs > 0, keep: true, staleMs: 60_000 },
  );
  const lines = logs.data?.logs ?? [];
  return (
    <ol className="moment-logs">
      {logs.data !== undefined && lines.length === 0 ? <li className="muted">no line was logged</li> : null}
      {lines.toReversed().map((line) => (
        <li key={line.id} className="clip" title={parseAnsi(line.msg.slice(0, 2_000)).text}>
          <span className={`level-${line.level}`}>{line.level}</span> {parseAnsi(line.msg.slice(0, 400)).text}
        </li>
      ))}
    </ol>
  );
}

/** Links carry the moment with them: pinned, and in the timeline with some room around it. */
export function MomentGo({ moment, of }: { readonly moment: TimeWindow; readonly of: string }) {
  const { run, startNs, setWindow, pin, setPin } = useRunClock();
  const pinned = { pin: formatPin(moment, startNs), ...(of === "" ? {} : { of }) };
  const room = (moment.to - moment.from) * 1.5;
  const near = formatWindow({ from: moment.from - room, to: moment.to + room }, startNs);
  return (
    <span className="row wrap moment-go">
      <Button
        look="small"
        icon="pin"
        aria-pressed={pin !== null}
        title={pin === null ? "stay on this moment" : "free it (Esc)"}
        onClick={() => setPin(pin === null ? { ...moment, of } : null)}
      >
        {pin === null ? "pin" : "pinned"}
      </Button>
      <Button look="quiet small" onClick={() => setWindow(moment)}>
        make it the window
      </Button>
      {run.counts.spans + run.counts.nodes > 0 ? (
        <RunLink id={run.id} view="timeline" search={{ ...near, ...pinned }} />
      ) : null}
      {run.counts.snapshots > 0 ? <TensorsLink moment={moment} search={pinned} /> : null}
      {run.counts.nodes > 0 ? <RunLink id={run.id} view="pipeline" search={pinned} /> : null}
      {run.counts.logs > 0 ? <RunLink id={run.id} view="logs" search={pinned} /> : null}
    </span>
  );
}

/** To the snapshot that was taken next: the tensors as the moment left them. */
function TensorsLink({ moment, search }: { readonly moment: TimeWindow; readonly search: object }) {
  const { run, startNs } = useRunClock();
  const all = useRunApi("snapshots", {}, { staleMs: 60_000 });
  const tensor = all.data?.tensors[0]?.tensor;
  const one = useApi(
    "tensor",
    { params: { id: run.id, tensor: tensor ?? "-" } },
    { enabled: tensor !== undefined, staleMs: 60_000 },
  );
  const rows = one.data?.rows ?? [];
  const next = rows.find((row) => toOffsetNs(row.ts_ns, startNs) >= moment.to) ?? rows.at(-1);
  const label = next === undefined ? "" : next.epoch !== null ? ` epoch ${next.epoch}` : ` step ${next.step ?? "?"}`;
  const title = next === undefined ? "" : `snapshot at ${formatElapsed(toOffsetNs(next.ts_ns, startNs), 1e6)}`;
  return (
    <RunLink id={run.id} view="tensors" search={search} title={title}>
      tensors{label}
    </RunLink>
  );
}

/** Which steps a moment holds, and the value of the metric pointed at. */
export function MomentSteps({ metric }: { readonly metric: MomentMetric | null }) {
  const series = metric?.series ?? null;
  if (metric === null || series === null) return null;
  const [first = 0, last = 0] = [series.x[0], series.xLast.at(-1)];
  const nan = series.nan.reduce((sum, count) => sum + count, 0);
  return (
    <>
      {metric.axis === "time" ? null : (
        <>
          <dt>step</dt>
          <dd>{first === last ? formatNumber(first) : `${formatNumber(first)}–${formatNumber(last)}`}</dd>
        </>
      )}
      <dt title={metric.of}>
        <Name>{metric.key}</Name>
      </dt>
      <dd>{nan > 0 ? `NaN${nan > 1 ? ` ×${nan}` : ""}` : formatFloat(series.last.at(-1))}</dd>
    </>
  );
}

/** The extremes of a moment that holds several points; each leads to its own step. */
export function MomentExtremes({ metric }: { readonly metric: MomentMetric | null }) {
  const series = metric?.series ?? null;
  if (metric === null || series === null || series.points < 2) return <span />;
  return (
    <div className="column moment-extremes">
      <Extreme of="max" metric={metric} series={series} />
      <Extreme of="min" metric={metric} series={series} />
    </div>
  );
}

interface ExtremeProps {
  readonly of: "min" | "max";
  readonly metric: MomentMetric;
  readonly series: PlotSeries;
}

function Extreme({ of, metric, series }: ExtremeProps) {
  const { setPin, pin } = useRunClock();
  const values = series[of];
  const row = extremeRow(values, of === "max" ? 1 : -1);
  if (row < 0) return null;
  const x = series.x[row] ?? 0;
  const place = metric.axis === "time" ? formatElapsed(x, 1e6) : `step ${formatNumber(x)}`;
  const to = series.tLast[row] ?? 0;
  const from = Math.min(series.tLast[row - 1] ?? pin?.from ?? to - 1, to - 1);
  return (
    <Button look="quiet small" title="pin it" onClick={() => setPin({ from, to, of: metric.of })}>
      <span className="muted">{of}</span> {formatFloat(values[row])} <span className="muted">at {place}</span>
    </Button>
  );
}

interface MomentMetric {
  readonly key: string;
  readonly of: string;
  readonly axis: "step" | "time";
  /** Null while it is on its way, and when nothing was logged within. */
  readonly series: PlotSeries | null;
}

/**
 * The points of a moment, exactly: a bucket of a chart may stand for many steps, and its greatest value is one of them. Of
 * the metric that is pointed at, else of the one that ties steps to the clock. Null for a run without metrics.
 */
export function useMomentMetric(moment: TimeWindow, of: string): MomentMetric | null {
  const { run, startNs } = useRunClock();
  const metrics = useRunMetrics();
  const metric = useMemo(
    () => metrics.find((each) => panelId(each) === of) ?? chooseStepMetric(metrics),
    [metrics, of],
  );
  const axis = metric === null || metric.first_step !== null ? "step" : "time";
  // A moment begins after the last point of the one before.
  const { from, to } = formatWindow({ from: moment.from + 1, to: moment.to }, startNs);
  const body: SeriesBody = {
    runs: [run.id],
    keys: [metric?.key ?? "-"],
    phase: metric?.phase ?? "",
    axis,
    buckets: 2_000,
    from_ns: from,
    to_ns: to,
  };
  const answer = useApi("series", { body }, { enabled: metric !== null, keep: true, staleMs: 60_000 });
  const series = useMemo(() => {
    const found = answer.data?.series.find((each) => each.key === metric?.key && each.phase === metric.phase);
    return found === undefined || found.x.length === 0 ? null : toPlotSeries(found, axis, startNs);
  }, [answer.data, metric, axis, startNs]);
  if (metric === null) return null;
  return { key: metric.key, of: panelId(metric), axis, series };
}
