// Groups whose records are known within the group: which run each belongs to, and which of its records came.
//
// When memory is short, the groups that were silent longest are dropped; they are read back from the store before their next
// record is applied. A filter over all keys tells new groups from those that the store may have, so that a new run need not be
// looked up. Of a group with very many events only the newest are in memory. The ranges of the others are known, and they are
// read back when an event falls into one (away-events.ts).

import assert from "node:assert/strict";
import type { ServerNs } from "#base/clock.ts";
import { SparseMap } from "#base/sparse-map.ts";
import { TextFilter } from "#base/text-filter.ts";
import { type GroupKey, parseGroupKey } from "#model/group-key.ts";
import type { GroupName, RunId } from "#model/names.ts";
import type { StateChange, StateRow } from "#model/state-tables.ts";
import type { AwayEvents, AwayPart, TimeWindow } from "./away-events.ts";
import { IdMap } from "./id-map.ts";
import { SeqSet, unknownContent } from "./seq-set.ts";

export interface GroupCause {
  readonly workspace: string;
  /** The `protocol` of the group's row; a protocol may have several kinds of groups. */
  readonly protocol: string;
  /** The id the records carry. */
  readonly ownId: string;
  /** The run that a path, a wrapper or `--run-id` named. */
  readonly runOverride: string | null;
  readonly imported: boolean;
  readonly receivedNs: ServerNs;
}

interface KnownGroup {
  /** What the `groups` table says; null before anything was noted. */
  row: { readonly runId: string; readonly imported: boolean; readonly version: bigint } | null;
  /** Events by worker. */
  readonly workers: SparseMap<string, SeqSet>;
  /** Of some workers' events only the range is known. */
  hasAway: boolean;
  /** Lines by their digests. */
  lines: IdMap | null;
  /** The last journal record that touched the group. */
  position: number;
}

function emptyGroup(position: number): KnownGroup {
  return { row: null, workers: new SparseMap(), hasAway: false, lines: null, position };
}

/** A group while it is read from the store: one that nobody sees yet, or one whose events are read back. */
export class LoadingGroup {
  readonly group: KnownGroup;

  constructor(group: KnownGroup = emptyGroup(0)) {
    this.group = group;
  }

  /** Sequence number and time in words of 32 bits: a run has millions of events, and making bigints would be most of the work. */
  event(worker: string, seqLow: number, seqHigh: number, tsLow: number, tsHigh: number): void {
    setOf(this.group, worker).add(seqLow, seqHigh, tsLow, tsHigh, unknownContent);
  }

  /** Of these events of a worker only the range is known. */
  away(worker: string, part: AwayPart): void {
    setOf(this.group, worker).away.add(part);
    this.group.hasAway = true;
  }

  /** Every event within the window was given. */
  cameBack(window: TimeWindow): void {
    for (const { away } of this.group.workers.values()) away.comeBack(window);
    this.group.hasAway = [...this.group.workers.values()].some(({ away }) => !away.isEmpty);
  }

  /** The line whose identity is in `idWords`, with the kept hash of its content. */
  line(content = 0): void {
    linesOf(this.group).set(content);
  }
}

/** Roughly how much memory a group takes besides its identities. */
const groupBytes = 600;
/** Full memory is emptied to this share of its limit: sorting the groups for every few rows would be most of the work. */
const keptShare = 7 / 8;

export class KnownGroups {
  private known = new Map<string, KnownGroup>();
  /** Of keys that may be stored. A fleet starts thousands of runs at once, and each false hit would be a question to the store. */
  private readonly filter = new TextFilter();
  /** Every stored key is in the filter. */
  private isWarm: boolean;

  /** `isFresh`: the store holds no group. */
  constructor(isFresh = true) {
    this.isWarm = isFresh;
  }

  /** Whether the group must be loaded before its records can be applied. */
  isMissing(groupKey: GroupKey): boolean {
    return !this.known.has(groupKey) && (!this.isWarm || this.filter.has(groupKey));
  }

  /** Keys of stored groups: read at start, or told by another collector. */
  noteStored(groupKeys: Iterable<string>): void {
    for (const key of groupKeys) this.filter.add(key);
  }

  warm(): void {
    this.isWarm = true;
  }

  /** Makes the group known with what the store holds of it; a row that a deletion has hidden says nothing. */
  load(groupKey: GroupKey, row: StateRow<"groups"> | null, { group }: LoadingGroup): void {
    if (this.known.has(groupKey)) return;
    if (row !== null && row.deleted_ns === 0n)
      group.row = { runId: row.run_id, imported: row.imported === 1, version: row.version };
    this.known.set(groupKey, group);
    this.filter.add(groupKey);
  }

  runOf(groupKey: GroupName): RunId | undefined {
    return this.known.get(groupKey)?.row?.runId;
  }

  /** The groups that are in memory. */
  keys(): Iterable<string> {
    return this.known.keys();
  }

  /** The events of a group's worker. The result is valid during one journal record. */
  eventsOf(groupKey: GroupKey, worker: string, position: number): SeqSet {
    const events = setOf(this.touch(groupKey, position), worker);
    events.position = position;
    return events;
  }

  /** Whether events of the group may have to come back before one of them can be told from a new one. */
  hasAway(groupKey: GroupKey): boolean {
    return this.known.get(groupKey)?.hasAway ?? false;
  }

  /** The ranges of a worker's events that memory has dropped. */
  awayOf(groupKey: GroupKey, worker: string): AwayEvents | undefined {
    return this.known.get(groupKey)?.workers.get(worker)?.away;
  }

  /** Takes in events that are read back; undefined when the group was dropped meanwhile. */
  returning(groupKey: GroupKey): LoadingGroup | undefined {
    const group = this.known.get(groupKey);
    return group && new LoadingGroup(group);
  }

  /** The lines of a group. The result is valid during one journal record. */
  linesOf(groupKey: GroupKey, position: number): IdMap {
    return linesOf(this.touch(groupKey, position));
  }

  /** The changes that this arrival makes: none for a group that is known with the same run. */
  note(groupKey: GroupKey, cause: GroupCause, position: number): StateChange[] {
    const group = this.touch(groupKey, position);
    const before = group.row;
    // A named run wins over the records' own id; of two names the smaller wins. So the order of arrival does not matter.
    const runId = pickRun(before?.runId, cause);
    if (before !== null && before.runId === runId && before.imported === (before.imported && cause.imported)) return [];
    // One live arrival makes the group live: it counts as imported only if all of it was.
    const imported = (before?.imported ?? true) && cause.imported;
    const version = laterVersion(before?.version, cause.receivedNs);
    group.row = { runId, imported, version };
    const { workspace } = cause;
    const names = [...new Set([runId, cause.ownId])].filter((name) => name !== "");
    return [
      { table: "groups", row: toRow(groupKey, runId, imported, version, cause) },
      ...names.map(
        (alias): StateChange => ({ table: "aliases", row: { workspace, alias, group_key: groupKey, version } }),
      ),
    ];
  }

  /**
   * Takes over what another collector wrote about a group. Both collectors choose as if all arrivals had come to one of them.
   * Returns the row that should replace the stored one, if any.
   */
  merge(row: StateRow<"groups">, nowNs: ServerNs): StateChange[] {
    this.filter.add(row.group_key);
    const group = this.known.get(row.group_key);
    const before = group?.row ?? null;
    if (group === undefined || before === null) return [];
    const { ownId } = parseGroupKey(row.group_key);
    const runId = pickRun(before.runId, { ownId, runOverride: row.run_id === ownId ? null : row.run_id });
    const imported = before.imported && row.imported === 1;
    const version = laterVersion(row.version > before.version ? row.version : before.version, nowNs);
    const isSame = runId === row.run_id && imported === (row.imported === 1);
    group.row = { runId, imported, version: isSame ? row.version : version };
    return isSame ? [] : [{ table: "groups", row: { ...row, run_id: runId, imported: imported ? 1 : 0, version } }];
  }

  /** The group was deleted: its records are new when they arrive again. */
  forget(groupKey: GroupName): void {
    this.known.delete(groupKey);
  }

  /**
   * Drops the groups that were untouched longest until the rest fits, and the oldest events of a group that is too large by
   * itself. Only what is in the store is dropped: `storedPosition` is the last journal record that is stored.
   */
  shrink(bytesMax: number, storedPosition: number): number {
    let size = this.filter.byteSize;
    for (const group of this.known.values()) size += sizeOf(group);
    let dropped = 0;
    if (size <= bytesMax) return 0;
    const target = bytesMax * keptShare;
    const oldest = [...this.known].sort(([, a], [, b]) => a.position - b.position);
    for (const [groupKey, group] of oldest) {
      if (size <= target) break;
      const bytes = sizeOf(group);
      const isStored = group.position <= storedPosition;
      if (!isStored || bytes > size - target) size -= letGoOldest(group, size - target, storedPosition);
      if (!isStored || size <= target) continue;
      size -= sizeOf(group);
      this.known.delete(groupKey);
      for (const events of group.workers.values()) events.release();
      dropped++;
    }
    return dropped;
  }

  private touch(groupKey: GroupKey, position: number): KnownGroup {
    const group = this.known.get(groupKey) ?? this.make(groupKey, position);
    group.position = Math.max(group.position, position);
    return group;
  }

  private make(groupKey: GroupKey, position: number): KnownGroup {
    // An empty group in its place would take stored records for new ones and store them twice.
    assert(!this.isMissing(groupKey), "the group was not read before its records are applied");
    const group = emptyGroup(position);
    this.known.set(groupKey, group);
    this.filter.add(groupKey);
    return group;
  }
}

function setOf({ workers }: KnownGroup, worker: string): SeqSet {
  let set = workers.get(worker);
  if (set === undefined) {
    set = new SeqSet();
    workers.set(worker, set);
  }
  return set;
}

/** Drops the oldest of a group's events. Returns how many bytes that freed. */
function letGoOldest(group: KnownGroup, bytes: number, storedPosition: number): number {
  const parts = [...group.workers.values()].flatMap((events) => [...events.settledParts(storedPosition)]);
  parts.sort((a, b) => a.position - b.position);
  let sum = 0;
  for (const part of parts) {
    if (sum >= bytes) break;
    part.letGo();
    sum += part.bytes;
    group.hasAway = true;
  }
  return sum;
}

function linesOf(group: KnownGroup): IdMap {
  group.lines ??= new IdMap();
  return group.lines;
}

function sizeOf({ workers, lines }: KnownGroup): number {
  let sum = groupBytes + (lines?.byteSize ?? 0);
  for (const set of workers.values()) sum += set.byteSize;
  return sum;
}

/** A row that is written later must win, whatever the clocks say. */
function laterVersion(before: bigint | undefined, nowNs: ServerNs): bigint {
  return before !== undefined && before >= nowNs ? before + 1n : nowNs;
}

function pickRun(before: string | undefined, cause: Pick<GroupCause, "ownId" | "runOverride">): string {
  const named = cause.runOverride;
  if (before === undefined) return named ?? cause.ownId;
  if (named === null) return before;
  return before === cause.ownId || named < before ? named : before;
}

function toRow(
  groupKey: GroupKey,
  runId: string,
  imported: boolean,
  version: bigint,
  cause: GroupCause,
): StateRow<"groups"> {
  return {
    group_key: groupKey,
    workspace: cause.workspace,
    protocol: cause.protocol,
    run_id: runId,
    session_id: "",
    root_kind: "",
    rank: 0,
    pipeline_id: null,
    deployment_id: null,
    model_id: null,
    forked: 0,
    imported: imported ? 1 : 0,
    deleted_ns: 0n,
    version,
  };
}
