// Which run, session and rank each group of rows belongs to now, and the changes since this was last announced.
// Stored rows are never rewritten: when a guess about a session changes, only these few rows do.

import type { ServerNs } from "#base/clock.ts";
import type { Joins } from "#intake/joins.ts";
import type { GroupName, RunId } from "#model/names.ts";
import type { StateChange, StateRow } from "#model/state-tables.ts";
import type { Component } from "./component.ts";
import type { ComponentSet } from "./component-set.ts";
import { type Session, toSessions } from "./sessions.ts";

export interface MapCause {
  readonly receivedNs: ServerNs;
  /** The journal record that is applied. */
  readonly position: number;
}

export interface Told {
  readonly changes: StateChange[];
  /** Components whose announced state changed. */
  readonly components: ReadonlySet<Component>;
}

export class GroupMap {
  private readonly components: ComponentSet;
  private readonly gapNs: bigint;

  private readonly joins: Joins;

  constructor(components: ComponentSet, gapNs: bigint, joins: Joins) {
    this.components = components;
    this.gapNs = gapNs;
    this.joins = joins;
  }

  /** The run that a group's rows belong to now, if its component is in memory. */
  runOf(groupKey: GroupName): RunId | undefined {
    const at = this.components.ofKey(groupKey);
    return at === undefined ? undefined : this.components.get(at).told.get(groupKey)?.runId;
  }

  /** Neighbours of several are looked at only once. */
  update(indexes: readonly number[], cause: MapCause): Told {
    const [only] = indexes;
    const sessions =
      indexes.length === 1 && only !== undefined ? this.sessionsNear(only) : this.sessionsNearAny(indexes);
    const changes = this.joins.isEmpty ? [] : this.followJoins(sessions, cause);
    const told = { changes, components: new Set<Component>() };
    for (const session of sessions) this.tellSession(session, cause, told);
    return told;
  }

  private sessionsNear(index: number): Session[] {
    return this.toSessions(this.components.neighbourhood(index, this.gapNs));
  }

  private sessionsNearAny(indexes: readonly number[]): Session[] {
    const seen = new Set<number>();
    const changed = new Set(indexes);
    return indexes.flatMap((index) => {
      if (seen.has(index)) return [];
      const near = this.components.neighbourhood(index, this.gapNs, changed);
      for (const at of near) seen.add(at);
      return this.toSessions(near);
    });
  }

  private toSessions(near: readonly number[]): Session[] {
    return toSessions(
      near.map((at) => this.components.get(at)),
      this.gapNs,
    );
  }

  /** A run that people joined may have another id from now on. A run that had this id before does not get the join. */
  private followJoins(sessions: readonly Session[], { receivedNs }: MapCause): StateChange[] {
    const former = sessions.map(({ members }) => new Set(members.flatMap(toldRuns)));
    const known = new Set(former.flatMap((runs) => [...runs]));
    const left = new Set(sessions.map(runOfSession));
    return sessions.flatMap((session, at) => {
      const runId = runOfSession(session);
      const [member] = session.members;
      if (member === undefined || known.has(runId)) return [];
      return [...(former[at] as ReadonlySet<string>)].flatMap((before) =>
        this.joins.follow(member.workspace, before, runId, !left.has(before), receivedNs),
      );
    });
  }

  private tellSession(
    session: Session,
    cause: MapCause,
    told: { changes: StateChange[]; components: Set<Component> },
  ): void {
    const runId = runOfSession(session);
    const rank = rankOf(session);
    for (const component of session.members) {
      const row = toRow(component, session, { runId, rank });
      const signature = signatureOf(row);
      for (const groupKey of component.groupKeys) {
        if (component.told.get(groupKey)?.signature === signature) continue;
        if (!told.components.has(component)) {
          told.components.add(component);
          nextVersion(component, cause);
        }
        component.told.set(groupKey, { runId, signature });
        told.changes.push({ table: "groups", row: { ...row, group_key: groupKey, version: component.version } });
        for (const alias of new Set([runId, session.rootId])) {
          const name = `${alias}\n${groupKey}`;
          if (component.aliases.has(name)) continue;
          component.aliases.add(name);
          const { workspace, version } = component;
          told.changes.push({ table: "aliases", row: { workspace, alias, group_key: groupKey, version } });
        }
      }
    }
  }
}

function toldRuns({ told }: Component): string[] {
  return Array.from(told.values(), ({ runId }) => runId);
}

/** The version makes later rows win, even if the clock goes back or the journal is read again after a crash. */
export function nextVersion(component: Component, { receivedNs, position }: MapCause): void {
  const next = component.version + 1n;
  component.version = receivedNs > next ? receivedNs : next;
  component.position = position;
}

/** What all keys of a component have in common. */
type ToldRow = Omit<StateRow<"groups">, "group_key" | "version">;

function toRow(
  component: Component,
  session: Session,
  { runId, rank }: { readonly runId: string; readonly rank: number },
): ToldRow {
  const { span } = session;
  return {
    workspace: component.workspace,
    protocol: "cirron",
    run_id: runId,
    session_id: session.rootId,
    root_kind: session.rootKind,
    rank,
    pipeline_id: span?.pipelineId ?? null,
    deployment_id: span?.deploymentId ?? null,
    model_id: span?.modelId ?? null,
    forked: session.members.some(({ forked }) => forked) ? 1 : 0,
    imported: session.members.some(({ imported }) => imported) ? 1 : 0,
    deleted_ns: 0n,
  };
}

/** The run named in the path or by the wrapper, else by the session span, else the session itself. */
function runOfSession(session: Session): string {
  let named: string | undefined;
  for (const { runOverrides } of session.members)
    for (const run of runOverrides) if (named === undefined || run < named) named = run;
  return named ?? session.span?.runId ?? session.rootId;
}

function rankOf(session: Session): number {
  let smallest: number | undefined;
  for (const { processes } of session.members) {
    for (const process of processes) {
      const rank = Number(process.slice(process.indexOf("/") + 1));
      if (smallest === undefined || rank < smallest) smallest = rank;
    }
  }
  return smallest ?? 0;
}

export function signatureOf(row: ToldRow): string {
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
