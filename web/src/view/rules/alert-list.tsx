// What rules saw, the newest first.

import type { Alert } from "#api/contract/rule.ts";
import { useRunApi } from "../../clock/run-clock.tsx";
import { useRunNames } from "../../data/use-run-names.ts";
import { Entry } from "../../part/entry.tsx";
import { RunLink } from "../../part/run-link.tsx";
import { When } from "../../part/when.tsx";

export function AlertList({
  alerts,
  withRun = false,
}: {
  readonly alerts: readonly Alert[];
  readonly withRun?: boolean;
}) {
  const nameOf = useRunNames(withRun ? alerts.map(({ run }) => run) : []);
  return (
    <ul>
      {alerts.map((alert) => (
        <AlertRow key={alert.id} alert={alert} runName={withRun ? nameOf(alert.run) : null} />
      ))}
    </ul>
  );
}

function AlertRow({ alert, runName }: { readonly alert: Alert; readonly runName: string | null }) {
  const isOver = alert.resolved_ns !== null;
  return (
    <Entry
      code={alert.rule}
      icon={isOver ? "check" : "flag"}
      tone={isOver ? "muted" : "status-failed"}
      title={
        <>
          {runName === null ? null : <RunLink id={alert.run}>{runName}</RunLink>} <strong>{alert.text}</strong>
        </>
      }
      evidence={alert.evidence}
      side={
        <span className="entry-side muted">
          {alert.rule}
          {alert.armed ? "" : ", dry run"}
          {isOver ? ", resolved" : ""}
          <br />
          <When ns={alert.fired_ns} />
        </span>
      }
    >
      {alert.outcome === "" ? null : <p>{alert.outcome}</p>}
      {alert.deliveries.map(({ target, event, state, note }) => (
        <p key={`${target} ${event}`} className="muted">
          {event} to {target}: {state.replace("_", " ")}
          {note === "" ? "" : `, ${note}`}
        </p>
      ))}
    </Entry>
  );
}

/** What rules saw of the run on screen; nothing when they saw nothing. */
export function RunAlerts() {
  const answer = useRunApi("runAlerts", { query: { limit: 20 } });
  const alerts = answer.data?.alerts ?? [];
  if (alerts.length === 0) return null;
  return (
    <section className="panel" aria-label="Alerts">
      <AlertList alerts={alerts} />
    </section>
  );
}
