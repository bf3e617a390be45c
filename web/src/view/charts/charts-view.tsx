// All metrics of the run, one panel each, on the shared clock.

import { useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import type { Axis } from "#api/contract/series.ts";
import { usePreference } from "../../app/preference.ts";
import { groupMetrics, panelId } from "../../chart/metric-groups.ts";
import type { PlotChoices } from "../../chart/plot-model.ts";
import type { YScale } from "../../chart/scale.ts";
import { useRunClock } from "../../clock/run-clock.tsx";
import { useApi } from "../../data/use-api.ts";
import { Choice } from "../../part/choice.tsx";
import { Answer, Empty } from "../../part/notice.tsx";
import "./charts.css";
import { Panel } from "./panel.tsx";
import { useChartEvents } from "./use-chart-events.ts";
import { useLiveTail } from "./use-panel-series.ts";

const axes = ["step", "epoch", "time", "relative"] as const;
const scales = ["linear", "log", "symlog"] as const;

export function ChartsView() {
  const { run } = useRunClock();
  const metrics = useApi("metrics", { params: { id: run.id } });
  const { find = "", panel = null } = useSearch({ strict: false }) as { find?: string; panel?: string };
  const navigate = useNavigate();
  const change = (part: { find?: string | undefined; panel?: string | undefined }) =>
    void navigate({
      to: ".",
      search: (before: Record<string, unknown>) => ({ ...before, ...part }),
      replace: true,
    } as never);
  const [axis, setAxis] = usePreference<Axis>("axis", "step", axes);
  const [scale, setScale] = usePreference<YScale>("scale", "linear", scales);
  const [smoothing, setSmoothing] = usePreference<string>("smoothing", "0");
  const [robust, setRobust] = usePreference<"on" | "off">("robust", "off", ["on", "off"]);
  const [split, setSplit] = usePreference<"on" | "off">("workers", "off", ["on", "off"]);
  const choices = useMemo<PlotChoices>(
    () => ({ scale, robust: robust === "on", smoothing: Math.min(0.99, Number(smoothing) || 0) }),
    [scale, robust, smoothing],
  );
  const many = metrics.data?.metrics.some((metric) => metric.workers.length > 1) ?? false;
  return (
    <>
      <div className="bar wrap no-print">
        <input
          data-search
          className="field"
          placeholder="find metrics"
          aria-label="Find metrics"
          value={find}
          onChange={(event) => change({ find: event.target.value || undefined })}
          style={{ width: 180 }}
        />
        <Choice label="Horizontal axis" options={axes} value={axis} onChange={setAxis} />
        <Choice label="Vertical scale" options={scales} value={scale} onChange={setScale} />
        <button
          type="button"
          className="button"
          aria-pressed={robust === "on"}
          title="leave outliers outside the axis, and say so"
          onClick={() => setRobust(robust === "on" ? "off" : "on")}
        >
          robust range
        </button>
        {many ? (
          <button
            type="button"
            className="button"
            aria-pressed={split === "on"}
            onClick={() => setSplit(split === "on" ? "off" : "on")}
          >
            per worker
          </button>
        ) : null}
        <label className="row">
          <span className="muted">smooth</span>
          <input
            type="range"
            min="0"
            max="0.99"
            step="0.01"
            value={smoothing}
            onChange={(event) => setSmoothing(event.target.value)}
            style={{ width: 110 }}
          />
          <span className="num" style={{ width: 28 }}>
            {Number(smoothing).toFixed(2)}
          </span>
        </label>
      </div>
      <div className="scroll">
        <Answer of={metrics}>
          {(data) =>
            data.metrics.length === 0 ? (
              <Empty title="No metrics yet.">
                <p>They appear here with the first metric, metric_batch or numeric mark.</p>
              </Empty>
            ) : (
              <Panels
                groups={groupMetrics(data.metrics, find)}
                axis={axis}
                choices={choices}
                byWorker={split === "on" && many}
                expanded={panel}
                onExpand={(id) => change({ panel: id ?? undefined })}
              />
            )
          }
        </Answer>
      </div>
    </>
  );
}

function Panels({
  groups,
  axis,
  choices,
  byWorker,
  expanded,
  onExpand,
}: {
  readonly groups: ReturnType<typeof groupMetrics>;
  readonly axis: Axis;
  readonly choices: PlotChoices;
  readonly byWorker: boolean;
  /** The panel shown large, as `panelId` names it. */
  readonly expanded: string | null;
  readonly onExpand: (id: string | null) => void;
}) {
  const { tail, version } = useLiveTail();
  const events = useChartEvents();
  if (groups.length === 0) return <Empty title="No metric is called that." />;
  return (
    <div className="chart-groups">
      {groups.map((group) => (
        <section
          key={group.name}
          className="chart-group"
          aria-label={group.name === "" ? "other" : group.name}
          style={{ "--panels": expanded === null ? group.panels.length : 99 } as React.CSSProperties}
        >
          <h2>
            {group.name === "" ? "other" : group.name} <span className="muted">{group.panels.length}</span>
          </h2>
          <div className="chart-grid">
            {group.panels.map((panel) => {
              const id = panelId(panel.key, panel.phase);
              const open = expanded === id;
              return (
                <Panel
                  key={id}
                  panel={panel}
                  axis={axis}
                  choices={choices}
                  byWorker={byWorker}
                  events={events}
                  tail={tail}
                  version={version}
                  height={open ? 460 : 180}
                  expanded={open}
                  onExpand={() => onExpand(open ? null : id)}
                />
              );
            })}
          </div>
        </section>
      ))}
    </div>
  );
}
