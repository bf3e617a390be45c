// Which run, session and rank each group of rows belongs to today, and the changes since it was last told.
// Stored rows are never rewritten: when a guess about a session changes, only these few lines do.

import { smallestOf } from "#base/extremes.ts";
import type { StateChange, StateRow } from "#model/state-tables.ts";
import type { Component, UnresolvedParent } from "./component.ts";
import type { ComponentSet } from "./component-set.ts";
import type { SpanForest } from "./forest.ts";
import { type Candidate, type Session, toSessions } from "./sessions.ts";

export interface MapCause {
  readonly receivedNs: bigint;
  readonly imported: boolean;
}

export class GroupMap {
  private readonly components: ComponentSet;
  private readonly forest: SpanForest;
  private readonly gapNs: bigint;
  private readonly told = new Map<string, string>();
  private readonly aliases = new Set<string>();
  private readonly runs = new Map<string, string>();
  private readonly importedKeys = new Set<string>();

  constructor(components: ComponentSet, forest: SpanForest, gapNs: bigint) {
    this.components = components;
    this.forest = forest;
    this.gapNs = gapNs;
  }

  /** The run that a group's rows belong to now. */
  runOf(groupKey: string): string | undefined {
    return this.runs.get(groupKey);
  }

  /** What the store already knows, at start. */
  restore(row: StateRow<"groups">): void {
    this.told.set(row.group_key, signature(row));
    this.runs.set(row.group_key, row.run_id);
    if (row.imported === 1) this.importedKeys.add(row.group_key);
  }

  restoreAlias(alias: string, groupKey: string): void {
    this.aliases.add(`${alias}\n${groupKey}`);
  }

  update(index: number, cause: MapCause): StateChange[] {
    return this.tell(this.components.neighbourhood(index, this.gapNs), cause);
  }

  updateAll(receivedNs: bigint): StateChange[] {
    return this.tell(this.components.all(), { receivedNs, imported: false });
  }

  private tell(indexes: readonly number[], cause: MapCause): StateChange[] {
    const candidates = indexes.map((index) => this.toCandidate(this.components.get(index)));
    return toSessions(candidates, this.gapNs).flatMap((session) => this.tellSession(session, cause));
  }

  private toCandidate(component: Component): Candidate {
    const unresolved: UnresolvedParent[] = [...component.unresolved].map((node) => ({
      id: this.forest.nameOf(node),
      hasEpochChild: this.forest.hasEpochChild(node),
      leads: this.forest.leadsTo(node),
    }));
    return { component, key: smallest(component.groupKeys), unresolved };
  }

  private tellSession(session: Session, cause: MapCause): StateChange[] {
    const changes: StateChange[] = [];
    const runId = runOfSession(session);
    for (const { component } of session.candidates) {
      for (const groupKey of component.groupKeys) {
        const row = this.toRow(groupKey, component, session, runId, cause);
        const text = signature(row);
        if (this.told.get(groupKey) === text) continue;
        this.told.set(groupKey, text);
        this.runs.set(groupKey, runId);
        changes.push({ table: "groups", row });
        for (const alias of new Set([runId, session.rootId]))
          for (const change of this.tellAlias(component.workspace, alias, groupKey, cause)) changes.push(change);
      }
    }
    return changes;
  }

  private tellAlias(workspace: string, alias: string, groupKey: string, cause: MapCause): StateChange[] {
    const key = `${alias}\n${groupKey}`;
    if (this.aliases.has(key)) return [];
    this.aliases.add(key);
    return [{ table: "aliases", row: { workspace, alias, group_key: groupKey, version: cause.receivedNs } }];
  }

  private toRow(
    groupKey: string,
    component: Component,
    session: Session,
    runId: string,
    cause: MapCause,
  ): StateRow<"groups"> {
    const { span } = session;
    const isImported = cause.imported || this.importedKeys.has(groupKey);
    if (isImported) this.importedKeys.add(groupKey);
    return {
      group_key: groupKey,
      workspace: component.workspace,
      protocol: "cirron",
      run_id: runId,
      session_id: session.rootId,
      root_kind: session.rootKind,
      rank: rankOf(session),
      pipeline_id: span?.pipelineId ?? null,
      deployment_id: span?.deploymentId ?? null,
      model_id: span?.modelId ?? null,
      forked: session.candidates.some((candidate) => candidate.component.forked) ? 1 : 0,
      imported: isImported ? 1 : 0,
      deleted_ns: 0n,
      version: cause.receivedNs,
    };
  }
}

/** The run named in the path or by the wrapper, else by the session span, else the session itself. */
function runOfSession(session: Session): string {
  const overrides = session.candidates.flatMap((candidate) => [...candidate.component.runOverrides]);
  if (overrides.length > 0) return smallest(new Set(overrides));
  return session.span?.runId ?? session.rootId;
}

function rankOf(session: Session): number {
  const ranks = session.candidates
    .flatMap((candidate) => [...candidate.component.processes])
    .map((process) => Number(process.slice(process.indexOf("/") + 1)));
  return ranks.length === 0 ? 0 : smallestOf(ranks);
}

function smallest(texts: ReadonlySet<string>): string {
  let best: string | undefined;
  for (const text of texts) if (best === undefined || text < best) best = text;
  return best as string;
}

function signature(row: StateRow<"groups">): string {
  return JSON.stringify([
    row.run_id,
    row.session_id,
    row.root_kind,
    row.rank,
    row.pipeline_id,
    row.deployment_id,
    row.model_id,
    row.forked,
    row.imported,
  ]);
}
