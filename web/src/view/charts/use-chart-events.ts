// Alerts, commands and checkpoints of the run, as ticks for every chart and the timeline.

import { useMemo } from "react";
import type { PlotEvent } from "../../chart/plot-draw.ts";
import { useRunClock } from "../../clock/run-clock.tsx";
import { useApi } from "../../data/use-api.ts";
import { toOffsetNs } from "../../text/format-time.ts";

export function useChartEvents(): readonly PlotEvent[] {
  const { run, startNs } = useRunClock();
  const params = { id: run.id };
  const commands = useApi("commands", { params }, { enabled: run.counts.commands > 0 });
  const checkpoints = useApi("checkpoints", { params }, { enabled: run.counts.checkpoints > 0 });
  const alerts = useApi("runAlerts", { params, query: { limit: 100 } });
  return useMemo(() => {
    const toEvent = (kind: PlotEvent["kind"], ns: string, label: string): PlotEvent => {
      return { t: toOffsetNs(ns, startNs), label, kind };
    };
    return [
      ...(alerts.data?.alerts ?? []).map(({ at, rule, text }) => toEvent("alert", at.ts_ns, `${rule}: ${text}`)),
      ...(commands.data?.commands ?? []).map(({ settled_ns, delivered_ns, created_ns, type }) =>
        toEvent("command", settled_ns ?? delivered_ns ?? created_ns, type),
      ),
      ...(checkpoints.data?.checkpoints ?? []).map(({ ts_ns, path }) =>
        toEvent("checkpoint", ts_ns, `checkpoint ${path.split("/").at(-1) ?? ""}`),
      ),
    ];
  }, [alerts.data, commands.data, checkpoints.data, startNs]);
}
