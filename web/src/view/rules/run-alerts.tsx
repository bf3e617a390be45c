// What rules saw of one run; nothing when they saw nothing.

import type { Run } from "#api/contract/run.ts";
import { useApi } from "../../data/use-api.ts";
import { AlertList } from "./alert-list.tsx";

export function RunAlerts({ run }: { readonly run: Run }) {
  const answer = useApi("runAlerts", { params: { id: run.id }, query: { limit: 20 } });
  const alerts = answer.data?.alerts ?? [];
  if (alerts.length === 0) return null;
  return (
    <section className="panel" aria-label="Alerts">
      <AlertList alerts={alerts} />
    </section>
  );
}
