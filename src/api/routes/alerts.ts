// What rules saw: of all runs, or of one.

import { type ApiContext, limitDefault, ofRun, type Route } from "#api/context.ts";
import { toRunPlace } from "#api/contract/judge.ts";
import type { Alert } from "#api/contract/rule.ts";
import { ownRunsOf } from "#query/runs/find-run.ts";
import { type Firing, listFirings } from "#watch/firing.ts";

export const alertsRoute: Route<"alerts"> = async (context, { query, caller, asOf }) => {
  return { alerts: await readAlerts(context, caller.workspace, null, query), as_of: asOf };
};

export const runAlertsRoute: Route<"runAlerts"> = ofRun(async (context, { asOf, run, caller, query }) => {
  // What was seen of a run before it was joined to another stays with it.
  const runs = ownRunsOf(run);
  return { alerts: await readAlerts(context, caller.workspace, runs, query), as_of: asOf };
});

async function readAlerts(
  { sources }: ApiContext,
  workspace: string,
  runs: readonly string[] | null,
  { rule, limit }: { readonly rule?: string; readonly limit?: number },
): Promise<Alert[]> {
  const found = await listFirings(sources, { workspace, runs, rule: rule ?? null, limit: limit ?? limitDefault });
  return found.map(({ firing, deliveries }) => toAlert(firing, deliveries));
}

export function toAlert(
  firing: Firing,
  deliveries: Awaited<ReturnType<typeof listFirings>>[number]["deliveries"],
): Alert {
  const { id, runId, rule, kind, isArmed, text, evidence, at, metric, firedNs, resolvedNs, actions, outcome } = firing;
  return {
    id,
    run: runId,
    rule,
    kind,
    armed: isArmed,
    text,
    evidence: [...evidence],
    at: toRunPlace(at),
    metric,
    fired_ns: firedNs.toString(),
    resolved_ns: resolvedNs?.toString() ?? null,
    commands: actions.commands.map(({ type }) => type),
    outcome,
    deliveries: deliveries.map(({ target, event, state, attempts, note }) => ({
      target: withoutSecrets(target),
      event: event as "firing" | "resolved",
      state: state as "queued" | "sent" | "given_up",
      attempts,
      note,
    })),
  };
}

/** The path of a chat's webhook is its key. */
function withoutSecrets(target: string): string {
  return target.startsWith("mailto:") ? target : `${new URL(target).origin}/…`;
}
