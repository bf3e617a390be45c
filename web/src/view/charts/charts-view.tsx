// All metrics of the run, one panel each, on the shared clock. What changes the picture is in the address.

import { useSearch } from "@tanstack/react-router";
import { toSegment } from "#api/contract/segment.ts";
import type { Axis } from "#api/contract/series.ts";
import { SavedViews } from "../../app/saved-views.tsx";
import { asList, asText, type SearchRecord } from "../../app/search.ts";
import { useSetSearch, useUrlChoice } from "../../app/url-choice.ts";
import { groupMetrics } from "../../chart/metric-groups.ts";
import { useRunApi, useRunClock } from "../../clock/run-clock.tsx";
import { Choice } from "../../part/field.tsx";
import { Answer, Empty } from "../../part/notice.tsx";
import "./charts.css";
import { PanelGroups, type PanelSize, panelSizes } from "./panel-groups.tsx";
import { type OnOff, OnOffButton, onOff, PlotControls, usePlotChoices } from "./plot-choices.tsx";

const axes = ["step", "epoch", "time", "relative"] as const;

/** What a saved view of the charts is made of: everything but the run's own times and the panel shown large. */
const viewParts = "find axis scale smooth robust workers size closed pinned range".split(" ");
const noView: SearchRecord = Object.fromEntries(viewParts.map((part) => [part, undefined]));

function toViewSearch(search: Record<string, unknown>): SearchRecord {
  return Object.fromEntries(viewParts.map((part) => [part, asList(search[part])]));
}

export function ChartsView() {
  const metrics = useRunApi("metrics", {});
  const search = useSearch({ strict: false }) as Record<string, unknown>;
  const find = asText(search["find"]) ?? "";
  const view = useChartChoices();
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
  const [split, setSplit] = useUrlChoice<OnOff>("workers", "workers", "off", onOff);
  const [size, setSize] = useUrlChoice<PanelSize>("size", "panel-size", "medium", panelSizes);
  return { ...usePlotChoices(), axis, setAxis, split, setSplit, size, setSize };
}

interface ChartsBarProps {
  readonly find: string;
  readonly many: boolean;
  readonly view: ReturnType<typeof useChartChoices>;
}

function ChartsBar({ find, many, view }: ChartsBarProps) {
  const setSearch = useSetSearch();
  const { run } = useRunClock();
  const search = useSearch({ strict: false }) as Record<string, unknown>;
  return (
    <div className="row bar wrap no-print">
      <PlotControls view={view} axes={axes} find={find}>
        {many ? (
          <OnOffButton value={view.split} onChange={view.setSplit}>
            per worker
          </OnOffButton>
        ) : null}
      </PlotControls>
      <span className="grow" />
      <SavedViews
        page="charts"
        search={toViewSearch(search)}
        path={`/runs/${toSegment(run.id)}/charts`}
        what="How the panels of any run are arranged and drawn."
        onOpen={(next) => setSearch({ ...noView, ...toViewSearch(next) })}
      />
      <Choice label="Size of the panels" options={panelSizes} value={view.size} onChange={view.setSize} />
    </div>
  );
}
