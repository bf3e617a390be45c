// A firing: a rule saw in a run what it looks for. Its row holds everything that is said about it later.

import { createHash } from "node:crypto";
import { formatExactly, parseExactly } from "#base/json/exact-integers.ts";
import type { Actions, Rule, RuleKind } from "#judge/rule.ts";
import type { Signal } from "#judge/signals.ts";
import type { RunId, Workspace } from "#model/names.ts";
import type { StateChange, StateRow } from "#model/state-tables.ts";
import type { Sources } from "#query/sources.ts";
import { type FiringsFilter, readDeliveries, readFirings } from "#store/reader/firings.ts";

export interface Firing extends Signal {
  readonly id: string;
  readonly workspace: Workspace;
  readonly rule: string;
  readonly kind: RuleKind;
  readonly runId: RunId;
  readonly isArmed: boolean;
  readonly firedNs: bigint;
  readonly resolvedNs: bigint | null;
  readonly actions: Actions;
  readonly outcome: string;
}

export interface FiringParts {
  readonly workspace: Workspace;
  readonly rule: Rule;
  readonly runId: RunId;
  readonly isArmed: boolean;
  readonly signal: Signal;
  readonly firedNs: bigint;
}

/** What another collector saw of a run that this one decides about. */
export interface ForeignSight {
  readonly workspace: Workspace;
  readonly runId: RunId;
  readonly rule: string;
  readonly signal: Signal;
}

/** The id depends on the rule, the run and the moment alone, so every collector gives one firing the same id. */
export function toFiring({ workspace, rule, runId, isArmed, signal, firedNs }: FiringParts): Firing {
  const identity = JSON.stringify([workspace, rule.name, runId, isArmed, rule.once ? "" : signal.at.tsNs.toString()]);
  const id = createHash("sha256").update(identity).digest("hex").slice(0, 24);
  const { name, kind, actions } = rule;
  const state = { firedNs, resolvedNs: null, actions, outcome: "" };
  return { ...signal, id, workspace, rule: name, kind, runId, isArmed, ...state };
}

/**
 * Once per run, or once per cooldown. A firing as a dry run does not keep the rule from acting once it is armed.
 * `before` holds the rule's firings on the run, newest first.
 */
export function mayFire(
  before: readonly Firing[],
  { rule, isArmed }: { readonly rule: Rule; readonly isArmed: boolean },
  signal: Signal,
): boolean {
  const last = before.find((firing) => firing.isArmed || !isArmed);
  if (last === undefined) return true;
  if (rule.once) return false;
  return signal.at.tsNs > last.at.tsNs + BigInt(rule.cooldownMs) * 1_000_000n;
}

export function toFiringChange(firing: Firing, version: bigint): StateChange {
  const { id, workspace, rule, kind, runId, at, metric, text, evidence, actions, outcome } = firing;
  return {
    table: "firings",
    row: {
      firing_id: id,
      workspace,
      rule,
      kind,
      run_id: runId,
      at_ns: at.tsNs,
      step: at.step,
      metric,
      text,
      evidence: JSON.stringify(evidence),
      armed: firing.isArmed ? 1 : 0,
      fired_ns: firing.firedNs,
      resolved_ns: firing.resolvedNs ?? 0n,
      actions: formatExactly(actions),
      outcome,
      version,
    },
  };
}

export type FiringRow = Readonly<StateRow<"firings">>;

export function fromFiringRow(row: FiringRow): Firing {
  return {
    id: row.firing_id,
    workspace: row.workspace,
    rule: row.rule,
    kind: row.kind as RuleKind,
    runId: row.run_id,
    at: { step: row.step, tsNs: row.at_ns },
    metric: row.metric,
    text: row.text,
    evidence: JSON.parse(row.evidence) as string[],
    isArmed: row.armed === 1,
    firedNs: row.fired_ns,
    resolvedNs: row.resolved_ns === 0n ? null : row.resolved_ns,
    actions: parseExactly(row.actions) as Actions,
    outcome: row.outcome,
  };
}

/** With the messages about each, the newest first. */
export async function listFirings({ store }: Sources, filter: FiringsFilter) {
  const firings = (await readFirings(store, filter)).map(fromFiringRow);
  const armed = firings.filter(({ isArmed }) => isArmed).map(({ id }) => id);
  const rows = armed.length === 0 ? [] : await readDeliveries(store, armed);
  const deliveriesOf = Map.groupBy(rows, (row) => row.firing_id);
  return firings.map((firing) => ({ firing, deliveries: deliveriesOf.get(firing.id) ?? [] }));
}
