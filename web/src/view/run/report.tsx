// The run on one page: what it is, its curves, parameters, time and files. Made to be printed or sent.

import { useEffect, useMemo } from "react";
import { createLiveTail } from "../../chart/live-tail.ts";
import { groupMetrics, type MetricPanel, panelTitle } from "../../chart/metric-groups.ts";
import { plainChoices } from "../../chart/plot-model.ts";
import { useRunClock, useRunMetrics } from "../../clock/run-clock.tsx";
import { Button } from "../../part/button.tsx";
import { Page, Panel } from "../../part/panel.tsx";
import "../charts/charts.css";
import { ChartPanel } from "../charts/panel.tsx";
import { useChartEvents } from "../charts/use-chart-events.ts";
import { SummaryTable } from "../timeline/summary-table.tsx";
import { Checkpoints } from "./files.tsx";
import { ErrorPanel, OverviewPanels } from "./overview.tsx";
import { ParamTables } from "./params.tsx";

const panelsMax = 24;

export function Report() {
  const { run } = useRunClock();
  useEffect(() => {
    const before = document.title;
    document.title = `${run.name}, report`;
    return () => {
      document.title = before;
    };
  }, [run.name]);
  return (
    <Page>
      <p className="row no-print">
        <Button look="primary" icon="image" onClick={() => window.print()}>
          print
        </Button>
        <span className="muted">or save it as PDF; charts show the shared window when there is one</span>
      </p>
      <ErrorPanel run={run} />
      <OverviewPanels run={run} />
      {run.counts.metrics === 0 ? null : <ReportCharts />}
      <ParamTables search="" />
      {run.counts.spans + run.counts.nodes === 0 ? null : (
        <Panel title="time by span">
          <SummaryTable onName={() => undefined} />
        </Panel>
      )}
      {run.counts.checkpoints === 0 ? null : <Checkpoints />}
    </Page>
  );
}

/** All panels at once: paper has no scrolling to wait for. */
function ReportCharts() {
  const { startNs } = useRunClock();
  const metrics = useRunMetrics();
  const events = useChartEvents();
  const live = useMemo(() => ({ tail: createLiveTail(startNs), version: 0 }), [startNs]);
  const panels = groupMetrics(metrics, "").flatMap((group) =>
    group.panels.map((panel): MetricPanel => ({ ...panel, label: panelTitle(panel) })),
  );
  return (
    <section aria-label="Charts">
      <div className="chart-grid">
        {panels.slice(0, panelsMax).map((panel) => (
          <ChartPanel
            key={`${panel.key} ${panel.phase}`}
            panel={panel}
            axis="step"
            choices={plainChoices}
            byWorker={false}
            events={events}
            live={live}
            height={160}
          />
        ))}
      </div>
      {panels.length > panelsMax ? (
        <p className="muted">{panels.length - panelsMax} more metrics are in the charts.</p>
      ) : null}
    </section>
  );
}
