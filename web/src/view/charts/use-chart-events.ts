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
  return useMemo(
    () => [
      ...(alerts.data?.alerts ?? []).map(
        (alert): PlotEvent => ({
          t: toOffsetNs(alert.at.ts_ns, startNs),
          label: `${alert.rule}: ${alert.text}`,
          kind: "alert",
        }),
      ),
      ...(commands.data?.commands ?? []).map(
        (command): PlotEvent => ({
          t: toOffsetNs(command.settled_ns ?? command.delivered_ns ?? command.created_ns, startNs),
          label: command.type,
          kind: "command",
        }),
      ),
      ...(checkpoints.data?.checkpoints ?? []).map(
        (checkpoint): PlotEvent => ({
          t: toOffsetNs(checkpoint.ts_ns, startNs),
          label: `checkpoint ${checkpoint.path.split("/").at(-1) ?? ""}`,
          kind: "checkpoint",
        }),
      ),
    ],
    [alerts.data, commands.data, checkpoints.data, startNs],
  );
}
