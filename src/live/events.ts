// Applied rows as live events. Rows become events only for subscribers that watch their run, so a flood that nobody
// watches costs no more than a counter.

import type { LiveEvent } from "#api/contract/live.ts";
import type { LogRow } from "#api/contract/record.ts";
import { toFloat } from "#api/contract/scalar.ts";
import type { AnyTablePart, Batch } from "#model/batch.ts";
import type { GroupName, RunId } from "#model/names.ts";
import { formatRowPlace } from "#model/positions.ts";
import type { StateRow } from "#model/state-tables.ts";
import type { Rows } from "#model/tables.ts";
import { hasTrait } from "#protocol/facts.ts";

/** What was applied, with the runs that its groups belonged to at that moment. */
export interface LiveEntry {
  readonly position: number;
  readonly workspace: string;
  readonly batch: Batch;
  readonly runOf: (groupKey: GroupName) => RunId | undefined;
}

/** What subscribers are told about rows. */
export type LiveData = {
  [N in "run" | "gone" | "changed" | "metrics" | "logs"]: Omit<LiveEvent<N>, "id">;
}["run" | "gone" | "changed" | "metrics" | "logs"];

/** Rows by run and table; rows of groups that belong to no run are left out. */
export function countRows(entry: LiveEntry): Map<string, Record<string, number>> {
  const counts = new Map<string, Record<string, number>>();
  for (const part of entry.batch.parts) {
    // This table is for intake only.
    if (part.table === "cirron_ids") continue;
    const { codes, keys, length } = part.rows.group_key;
    const byCode = new Uint32Array(keys.length);
    for (let row = 0; row < length; row++)
      if (part.dropped?.[row] !== 1) {
        const code = codes[row] as number;
        byCode[code] = (byCode[code] as number) + 1;
      }
    for (const [code, key] of keys.entries()) addCount(counts, entry.runOf(key), part.table, byCode[code] as number);
  }
  for (const change of entry.batch.state) {
    if (change.table === "groups") addCount(counts, runOfRow(entry, change.row), "groups", 1);
    if (change.table === "joins")
      for (const run of [change.row.run_id, change.row.into_run]) addCount(counts, run, "groups", 1);
    if (change.table === "commands" || change.table === "run_edits")
      addCount(counts, change.row.run_id, change.table, 1);
  }
  return counts;
}

function addCount(
  counts: Map<string, Record<string, number>>,
  run: string | undefined,
  table: string,
  count: number,
): void {
  if (run === undefined || count === 0) return;
  const row = counts.get(run) ?? {};
  row[table] = (row[table] ?? 0) + count;
  counts.set(run, row);
}

/** Runs whose head changed, and runs that were deleted. Calling `isKnown` makes a run known. */
export function headEvents(entry: LiveEntry, isKnown: (run: string) => boolean): LiveData[] {
  const events = new Map<string, LiveData>();
  const change = (run: string): void => {
    if (!events.has(run))
      events.set(run, { name: "run", data: { id: run, name: run, status: "running", first: !isKnown(run) } });
  };
  for (const { table, row } of entry.batch.state) {
    if (table === "joins") {
      if (row.parted === 1) change(row.run_id);
      else events.set(row.run_id, { name: "gone", data: { run: row.run_id } });
      change(row.into_run);
    }
    if (table !== "groups" || row.protocol === "launch") continue;
    if (row.deleted_ns > 0n) events.set(row.run_id, { name: "gone", data: { run: row.run_id } });
    else change(runOfRow(entry, row));
  }
  return [...events.values()];
}

/** A group names the run of its records, which people may have joined to another. */
function runOfRow(entry: LiveEntry, { group_key, run_id, deleted_ns }: StateRow<"groups">): string {
  return deleted_ns > 0n ? run_id : (entry.runOf(group_key) ?? run_id);
}

/** The rows of one run, as a subscriber of that run gets them. `earlier` gives the batches before this one, newest first. */
export function rowEvents(
  entry: LiveEntry,
  run: string,
  collector: string,
  earlier: () => readonly Batch[],
): LiveData[] {
  const events: LiveData[] = [];
  for (const part of entry.batch.parts) {
    const mine = rowsOfRun(part, entry, run);
    if (mine.length === 0) continue;
    if (part.table === "metrics")
      events.push({ name: "metrics", data: toMetricColumns(part.rows, mine, run, [entry.batch, earlier]) });
    if (part.table === "logs")
      events.push({ name: "logs", data: { run, logs: toLogRows(part.rows, mine, collector) } });
  }
  return events;
}

function rowsOfRun(part: AnyTablePart, entry: LiveEntry, run: string): number[] {
  const { codes, keys, length } = part.rows.group_key;
  const isMine = keys.map((key) => entry.runOf(key) === run);
  const rows: number[] = [];
  if (!isMine.includes(true)) return rows;
  for (let row = 0; row < length; row++)
    if (part.dropped?.[row] !== 1 && isMine[codes[row] as number] === true) rows.push(row);
  return rows;
}

function toMetricColumns(
  metrics: Rows<"metrics">,
  rows: readonly number[],
  run: string,
  [batch, earlier]: readonly [Batch, () => readonly Batch[]],
): LiveEvent<"metrics">["data"] {
  const places = rows.map(toPlaceOf(metrics, batch, earlier));
  return {
    run,
    key: rows.map((row) => metrics.key.at(row)),
    phase: rows.map((row) => metrics.phase.at(row)),
    worker: places.map((place) => place.worker),
    step: places.map((place) => place.step?.toString() ?? null),
    epoch: places.map((place) => place.epoch?.toString() ?? null),
    ts_ns: rows.map((row) => metrics.ts_ns.at(row).toString()),
    value: rows.map((row) => (metrics.value.isNull(row) ? null : toFloat(metrics.value.inner.at(row)))),
  };
}

/** The point's own worker, step and epoch; a mark without them takes those of its spans. */
function toPlaceOf(
  metrics: Rows<"metrics">,
  batch: Batch,
  earlier: () => readonly Batch[],
): (row: number) => MarkPlace {
  let placeOfMark: ReturnType<typeof createMarkPlaces> | null = null;
  return (row) => {
    const step = metrics.step.isNull(row) ? null : metrics.step.inner.at(row);
    const epoch = metrics.epoch.isNull(row) ? null : metrics.epoch.inner.at(row);
    if (!hasTrait(metrics.source.at(row), "sessions")) return { worker: metrics.worker.at(row), step, epoch };
    placeOfMark ??= createMarkPlaces([batch, ...earlier()]);
    const place = placeOfMark(metrics.group_key.at(row), metrics.span_id.at(row));
    return { worker: place.worker, step: step ?? place.step, epoch: epoch ?? place.epoch };
  };
}

function toLogRows(logs: Rows<"logs">, rows: readonly number[], collector: string): LogRow[] {
  return rows.map((row) => ({
    id: formatRowPlace({ collector, jpos: logs.jpos.at(row), jrow: logs.jrow.at(row) }),
    ts_ns: logs.ts_ns.at(row).toString(),
    received_ns: logs.received_ns.at(row).toString(),
    worker: logs.worker.at(row),
    level: logs.level.at(row),
    logger: logs.logger.at(row),
    ...cutMessage(logs.msg.at(row)),
    step: logs.step.isNull(row) ? null : logs.step.inner.at(row).toString(),
    stream: logs.stream.at(row),
    fields: logs.fields.at(row),
  }));
}

/** As in a list of stored lines. */
const messageCharsMax = 65_536;

function cutMessage(msg: string): Pick<LogRow, "msg" | "cut_from"> {
  if (msg.length <= messageCharsMax) return { msg };
  return { msg: msg.slice(0, messageCharsMax).toWellFormed(), cut_from: msg.length };
}

// The worker, step and epoch of live marks, as an answer from the store would give them. The worker is the rank of the
// mark's group; step and epoch are those of the spans around it, which arrived with it or shortly before. A span that
// arrives later, as parents do, is known only to the store.

interface MarkPlace {
  /** The rank as text; '' if unknown. */
  readonly worker: string;
  readonly step: bigint | null;
  readonly epoch: bigint | null;
}

interface FoundSpan {
  readonly rows: Rows<"spans">;
  readonly row: number;
}

/** A mark's own span and three above it, as in answers from the store. */
const levels = 4;

/** Kept as long as the batch, and made only for batches that somebody watches. */
const indexes = new WeakMap<Batch, ReadonlyMap<string, FoundSpan>>();

/** Gives the place of a mark by its group and the id of its span. The batches are the newest first. */
function createMarkPlaces(batches: readonly Batch[]): (groupKey: string, spanId: string) => MarkPlace {
  const ranks = new Map<string, number>();
  // The newest entry of a group counts.
  for (const { state } of batches.toReversed())
    for (const change of state) if (change.table === "groups") ranks.set(change.row.group_key, change.row.rank);
  const find = (spanId: string): FoundSpan | undefined => {
    for (const batch of batches) {
      const found = indexOf(batch).get(spanId);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return (groupKey, spanId) => {
    const found = new Map<string, bigint | null>();
    let at = find(spanId);
    for (let level = 0; level < levels && at !== undefined; level++) {
      const { rows, row } = at;
      const name = rows.name.at(row);
      if (!found.has(name)) found.set(name, rows.index.isNull(row) ? null : rows.index.inner.at(row));
      at = rows.parent_id.isNull(row) ? undefined : find(rows.parent_id.inner.at(row));
    }
    const worker = ranks.get(groupKey)?.toString() ?? "";
    return { worker, step: found.get("step") ?? null, epoch: found.get("epoch") ?? null };
  };
}

function indexOf(batch: Batch): ReadonlyMap<string, FoundSpan> {
  const known = indexes.get(batch);
  if (known !== undefined) return known;
  const found = new Map<string, FoundSpan>();
  for (const part of batch.parts)
    if (part.table === "spans")
      for (let row = 0; row < part.rows.span_id.length; row++)
        found.set(part.rows.span_id.at(row), { rows: part.rows, row });
  indexes.set(batch, found);
  return found;
}
