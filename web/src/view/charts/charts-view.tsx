// All metrics of the run, one panel each, on the shared clock. What changes the picture is in the address.

import { useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import type { Axis } from "#api/contract/series.ts";
import { SavedViews } from "../../app/saved-views.tsx";
import { asList, asText, type SearchRecord } from "../../app/search.ts";
import { useSetSearch, useUrlChoice } from "../../app/url-choice.ts";
import { groupMetrics } from "../../chart/metric-groups.ts";
import type { PlotChoices } from "../../chart/plot-model.ts";
import type { YScale } from "../../chart/scale.ts";
import { useRunClock } from "../../clock/run-clock.tsx";
import { useApi } from "../../data/use-api.ts";
import { Choice } from "../../part/choice.tsx";
import { Answer, Empty } from "../../part/notice.tsx";
import { TextField } from "../../part/field.tsx";
import "./charts.css";
import { Button } from "../../part/button.tsx";
import { PanelGroups, type PanelSize, panelSizes } from "./panel-groups.tsx";
import { parseRanges } from "./panel-layout.ts";

const axes = ["step", "epoch", "time", "relative"] as const;
const scales = ["linear", "log", "symlog"] as const;
const onOff = ["on", "off"] as const;

/** What a saved view of the charts is made of: everything but the run's own times and the panel shown large. */
const viewParts = [
  "find",
  "axis",
  "scale",
  "smooth",
  "robust",
  "workers",
  "size",
  "closed",
  "pinned",
  "range",
] as const;
const noView: SearchRecord = Object.fromEntries(viewParts.map((part) => [part, undefined]));

function toViewSearch(search: Record<string, unknown>): SearchRecord {
  return Object.fromEntries(viewParts.map((part) => [part, asList(search[part])]));
}

export function ChartsView() {
  const { run } = useRunClock();
  const metrics = useApi("metrics", { params: { id: run.id } });
  const search = useSearch({ strict: false }) as Record<string, unknown>;
  const find = asText(search["find"]) ?? "";
  const view = useChartChoices();
  const rangeText = (asList(search["range"]) ?? []).join("\n");
  const ranges = useMemo(() => parseRanges(rangeText.split("\n")), [rangeText]);
  const many = metrics.data?.metrics.some((metric) => metric.workers.length > 1) ?? false;
  return (
    <>
      <ChartsBar find={find} many={many} view={view} />
      <div className="scroll">
        <Answer of={metrics}>
          {(data) =>
            data.metrics.length === 0 ? (
              <Empty title="No metrics yet.">
                <p>They appear here with the first metric, metric_batch or numeric mark.</p>
              </Empty>
            ) : (
              <PanelGroups
                groups={groupMetrics(data.metrics, find)}
                axis={view.axis}
                choices={view.choices}
                byWorker={view.split === "on" && many}
                size={view.size}
                expanded={asText(search["panel"]) ?? null}
                closed={asList(search["closed"]) ?? []}
                pinned={asList(search["pinned"]) ?? []}
                ranges={ranges}
              />
            )
          }
        </Answer>
      </div>
    </>
  );
}

function useChartChoices() {
  const [axis, setAxis] = useUrlChoice<Axis>("axis", "axis", "step", axes);
  const [scale, setScale] = useUrlChoice<YScale>("scale", "scale", "linear", scales);
  const [smoothing, setSmoothing] = useUrlChoice<string>("smooth", "smoothing", "0");
  const [robust, setRobust] = useUrlChoice<"on" | "off">("robust", "robust", "off", onOff);
  const [split, setSplit] = useUrlChoice<"on" | "off">("workers", "workers", "off", onOff);
  const [size, setSize] = useUrlChoice<PanelSize>("size", "panel-size", "medium", panelSizes);
  const choices = useMemo<PlotChoices>(
    () => ({ scale, robust: robust === "on", smoothing: Math.min(0.99, Number(smoothing) || 0) }),
    [scale, robust, smoothing],
  );
  return {
    axis,
    setAxis,
    scale,
    setScale,
    smoothing,
    setSmoothing,
    robust,
    setRobust,
    split,
    setSplit,
    size,
    setSize,
    choices,
  };
}

function ChartsBar({
  find,
  many,
  view,
}: {
  readonly find: string;
  readonly many: boolean;
  readonly view: ReturnType<typeof useChartChoices>;
}) {
  const setSearch = useSetSearch();
  const { run } = useRunClock();
  const search = useSearch({ strict: false }) as Record<string, unknown>;
  return (
    <div className="bar wrap no-print">
      <TextField
        data-search
        label="Find metrics"
        placeholder="find metrics, also by pattern"
        value={find}
        onChange={(text) => setSearch({ find: text || undefined })}
        style={{ width: 200 }}
      />
      <Choice label="Horizontal axis" options={axes} value={view.axis} onChange={view.setAxis} />
      <Choice label="Vertical scale" options={scales} value={view.scale} onChange={view.setScale} />
      <Button
        aria-pressed={view.robust === "on"}
        title="leave outliers outside the axis, and say so"
        onClick={() => view.setRobust(view.robust === "on" ? "off" : "on")}
      >
        robust range
      </Button>
      {many ? (
        <Button aria-pressed={view.split === "on"} onClick={() => view.setSplit(view.split === "on" ? "off" : "on")}>
          per worker
        </Button>
      ) : null}
      <label className="row">
        <span className="muted">smooth</span>
        <input
          type="range"
          min="0"
          max="0.99"
          step="0.01"
          value={view.smoothing}
          onChange={(event) => view.setSmoothing(event.target.value)}
          style={{ width: 110 }}
        />
        <span className="num" style={{ width: 28 }}>
          {Number(view.smoothing).toFixed(2)}
        </span>
      </label>
      <span className="grow" />
      <SavedViews
        page="charts"
        search={toViewSearch(search)}
        path={`/runs/${encodeURIComponent(run.id)}/charts`}
        what="How the panels of any run are arranged and drawn."
        onOpen={(next) => setSearch({ ...noView, ...toViewSearch(next) })}
      />
      <Choice label="Size of the panels" options={panelSizes} value={view.size} onChange={view.setSize} />
    </div>
  );
}
