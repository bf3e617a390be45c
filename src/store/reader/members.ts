// The runs of launches. A launch may have 100,000 of them, each with one start line and one end line, and grouping so
// many keys takes the engine several times as long as reading the lines: they come in order, and are folded here. A line
// that stands in the store twice changes nothing.

import { compare } from "#base/compare-text.ts";
import { parseGroupKey } from "#model/group-key.ts";
import { columnOf, type DecodedBlock } from "#store/native/decode-block.ts";
import type { Query, Store } from "#store/store.ts";
import {
  big,
  count,
  int,
  nullable,
  type RowOf,
  readMap,
  readNativeBlocks,
  readRows,
  senderNs,
  serverNs,
  text,
} from "./native-rows.ts";
import { placeOrder } from "./record-place.ts";
import { failedNodesSql, namesSql } from "./semantiva.ts";

/** What the success of a run depends on. */
export interface OutcomeFacts {
  readonly has_end: boolean;
  /** `summary.status` of the end line, '' when it says none. */
  readonly outcome: string;
  /** Nodes whose last status is `error`. */
  readonly failed_nodes: number;
}

/** Runs counted by what their success depends on. */
export type OutcomeCount = OutcomeFacts & { readonly count: number };

/** A run that belongs to a launch. Members come in order: by index, then by their start. */
export interface LaunchMember extends OutcomeFacts {
  /** What the run is called today. */
  readonly run_id: string;
  readonly run_index: number | null;
  /** Strict JSON with sorted keys, '' for none. */
  readonly context: string;
  /** From its first start to its last end, by its own clock; null when one of them is not known. */
  readonly duration_ms: number | null;
}

/** A member with what it ran: the pipeline, what that means and how it is configured; '' where it does not say. */
export interface LaunchedRun extends LaunchMember {
  readonly pipeline_id: string;
  readonly semantic_id: string;
  readonly config_id: string;
}

/** Of several lines of a run the last one counts, for starts as for ends. */
const inOrder = `ORDER BY group_key, timestamp, ${placeOrder}`;
const startsOf = (database: string, columns: string): string =>
  `SELECT ${columns} FROM ${database}.lifecycle WHERE launch_key IN {launches:Array(String)} AND type = 'pipeline_start'`;

const startRow = {
  group_key: text,
  run_index: nullable(count),
  context: text,
  ts_ns: senderNs,
  received_ns: serverNs,
  pipeline_id: text,
  semantic_id: text,
  config_id: text,
};
type StartRow = RowOf<typeof startRow>;

/** The members of a launch in order: by index, then by start. */
export async function readMembers(store: Store, launchKey: string): Promise<LaunchedRun[]> {
  const columns = Object.keys(startRow).join(", ");
  const query = toQuery(`${startsOf(store.database, columns)} ${inOrder}`, [launchKey]);
  const [starts, { endOf, failedOf, nameOf }] = await Promise.all([
    readRows(store, startRow, query),
    readFates(store, [launchKey]),
  ]);
  const members: (LaunchedRun & { readonly start_ns: bigint })[] = [];
  for (let at = 0; at < starts.length; ) {
    let last = starts[at] as StartRow;
    let startNs = last.ts_ns;
    let receivedNs = last.received_ns;
    for (at++; starts[at]?.group_key === last.group_key; at++) {
      last = starts[at] as StartRow;
      if (last.ts_ns < startNs) startNs = last.ts_ns;
      if (last.received_ns > receivedNs) receivedNs = last.received_ns;
    }
    const { group_key, context, pipeline_id, semantic_id, config_id } = last;
    const name = nameOf.get(group_key);
    if (receivedNs <= (name?.deleted ?? 0n)) continue;
    const end = endOf.get(group_key);
    const isTimed = startNs !== 0n && end !== undefined && end.lastNs !== 0n;
    members.push({
      run_id: name?.name || parseGroupKey(group_key).ownId,
      run_index: last.run_index,
      context,
      duration_ms: isTimed ? Number((end.lastNs - startNs) / 1_000_000n) : null,
      has_end: end !== undefined,
      outcome: end?.outcome ?? "",
      failed_nodes: failedOf.get(group_key) ?? 0,
      pipeline_id,
      semantic_id,
      config_id,
      start_ns: startNs,
    });
  }
  return members.sort(byIndex);
}

function byIndex(a: LaunchedRun & { readonly start_ns: bigint }, b: typeof a): number {
  if (a.run_index !== b.run_index) {
    if (a.run_index === null || b.run_index === null) return a.run_index === null ? 1 : -1;
    return a.run_index - b.run_index;
  }
  return compare(a.start_ns, b.start_ns) || compare(a.run_id, b.run_id);
}

/** By launch: its runs, counted. */
export async function readRunCounts(store: Store, launchKeys: readonly string[]): Promise<Map<string, OutcomeCount[]>> {
  const sql = `${startsOf(store.database, "launch_key, group_key, received_ns")} ORDER BY launch_key, group_key, received_ns`;
  const [blocks, { endOf, failedOf, nameOf }] = await Promise.all([
    readNativeBlocks(store, toQuery(sql, launchKeys)),
    readFates(store, launchKeys),
  ]);
  const counts = new Map<string, OutcomeCounts>();
  let run = { launch: "", group: "", receivedNs: 0n };
  const count = (): void => {
    const { launch, group, receivedNs } = run;
    if (group === "" || receivedNs <= (nameOf.get(group)?.deleted ?? 0n)) return;
    const mine = counts.get(launch) ?? new OutcomeCounts();
    counts.set(launch, mine);
    const end = endOf.get(group);
    mine.add(end !== undefined, end?.outcome ?? "", failedOf.get(group) ?? 0);
  };
  for (const block of blocks) {
    const launches = columnOf(block, "launch_key", "dict");
    const groups = columnOf(block, "group_key", "dict");
    const received = columnOf(block, "received_ns", "int64").values;
    for (let row = 0; row < block.rows; row++) {
      const launch = launches.keys[launches.codes[row] as number] as string;
      const group = groups.keys[groups.codes[row] as number] as string;
      // The last start of a run is the one that arrived last.
      if (group !== run.group || launch !== run.launch) count();
      run = { launch, group, receivedNs: received[row] as bigint };
    }
  }
  count();
  return new Map(Array.from(counts, ([launch, mine]) => [launch, mine.all]));
}

export function countOutcomes(runs: readonly OutcomeFacts[]): OutcomeCount[] {
  const counts = new OutcomeCounts();
  for (const { has_end, outcome, failed_nodes } of runs) counts.add(has_end, outcome, failed_nodes);
  return counts.all;
}

/** There are few kinds of outcomes, however many runs. */
class OutcomeCounts {
  readonly all: { -readonly [K in keyof OutcomeCount]: OutcomeCount[K] }[] = [];

  add(hasEnd: boolean, outcome: string, failedNodes: number): void {
    for (const one of this.all) {
      if (one.has_end !== hasEnd || one.outcome !== outcome || one.failed_nodes !== failedNodes) continue;
      one.count++;
      return;
    }
    this.all.push({ has_end: hasEnd, outcome, failed_nodes: failedNodes, count: 1 });
  }
}

/** What is known of a launch's runs beside their starts, by group. */
interface Fates {
  readonly endOf: ReadonlyMap<string, End>;
  readonly failedOf: ReadonlyMap<string, number>;
  /** Only of runs that have another name than their own, or were deleted. */
  readonly nameOf: ReadonlyMap<string, { readonly name: string; readonly deleted: bigint }>;
}

interface End {
  readonly outcome: string;
  /** The latest time of an end line, 0 when none has one. */
  readonly lastNs: bigint;
}

async function readFates(store: Store, launchKeys: readonly string[]): Promise<Fates> {
  const { database } = store;
  const attached = startsOf(database, "group_key");
  const endsSql = `SELECT group_key, outcome, ts_ns FROM ${database}.lifecycle
    WHERE launch_key = '' AND type = 'pipeline_end' AND group_key IN (${attached}) ${inOrder}`;
  const failedSql = failedNodesSql(database, attached);
  const [ends, failedOf, names] = await Promise.all([
    readNativeBlocks(store, toQuery(endsSql, launchKeys)),
    readMap(store, text, int, toQuery(failedSql, launchKeys)),
    readRows(store, { group_key: text, name: text, deleted: big }, { sql: namesSql(database) }),
  ]);
  return {
    endOf: toEnds(ends),
    failedOf,
    nameOf: new Map(names.map((row) => [row.group_key, row])),
  };
}

function toEnds(blocks: readonly DecodedBlock[]): Map<string, End> {
  const endOf = new Map<string, End>();
  for (const block of blocks) {
    const groups = columnOf(block, "group_key", "dict");
    const outcomes = columnOf(block, "outcome", "dict");
    const times = columnOf(block, "ts_ns", "int64").values;
    for (let row = 0; row < block.rows; row++) {
      const group = groups.keys[groups.codes[row] as number] as string;
      const time = times[row] as bigint;
      const before = endOf.get(group)?.lastNs ?? 0n;
      const outcome = outcomes.keys[outcomes.codes[row] as number] as string;
      endOf.set(group, { outcome, lastNs: time > before ? time : before });
    }
  }
  return endOf;
}

function toQuery(sql: string, launches: readonly string[]): Query {
  return { sql, params: { launches } };
}
