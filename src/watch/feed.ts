// Feeds applied batches to what is remembered of their runs. It runs for every record, so points that nobody watches must
// cost no more than one look at the dictionary of their keys.

import type { ServerNs } from "#base/clock.ts";
import type { DictColumn } from "#base/columns.ts";
import { stepSpan, waitSpans } from "#judge/names.ts";
import type { AnyTablePart } from "#model/batch.ts";
import type { GroupName, WorkerId } from "#model/names.ts";
import type { Rows } from "#model/tables.ts";
import type { TrackSink } from "./run-watch.ts";

export interface FeedPorts {
  /**
   * The track of the run that a group belongs to; undefined when the run is not watched. `arrivedNs` is when the first of
   * the group's rows arrived: records that are applied together need not have arrived together. `isPlain`: the rows are of
   * a kind that a run sends all the time and that hardly ever changes its row in the table of runs.
   */
  trackOf(groupKey: GroupName, arrivedNs: ServerNs, isPlain: boolean): TrackSink | undefined;
  /** Numbered events of a worker that were not known before. */
  hearNumbers(groupKey: GroupName, worker: WorkerId, first: bigint, last: bigint): void;
  isWatched(key: string): boolean;
  readonly receivedNs: ServerNs;
}

const isWait = new RegExp(waitSpans, "i");

/** Without spans: one may end its run. */
const plainTables: ReadonlySet<string> = new Set(["metrics", "seq_ranges", "logs"]);

export function feedParts(parts: readonly AnyTablePart[], ports: FeedPorts): void {
  const trackOf = rememberTracks(ports);
  for (const { table, rows, dropped } of parts) {
    // Intake writes this table for itself.
    if (rows.group_key.length === 0 || table === "cirron_ids") continue;
    const firsts = firstRows(rows.group_key);
    const isPlain = plainTables.has(table);
    const tracks = rows.group_key.keys.map((key, code) => {
      const first = firsts[code];
      return first === undefined ? undefined : trackOf(key, rows.received_ns.at(first), isPlain);
    });
    for (const track of tracks) if (track !== undefined) track.heardNs = ports.receivedNs;
    const trackAt = (row: number) => (dropped?.[row] === 1 ? undefined : tracks[rows.group_key.codes[row] as number]);
    switch (table) {
      case "metrics":
        feedMetrics(rows, trackAt, ports);
        break;
      case "spans":
        feedSpans(rows, trackAt, ports.receivedNs);
        break;
      case "events":
        for (let row = 0; row < rows.type.length; row++)
          if (rows.type.at(row) === "checkpoint") trackAt(row)?.addCheckpoint(rows.ts_ns.at(row));
        break;
      case "seq_ranges":
        feedNumbers(rows, ports);
        break;
      default:
        break;
    }
  }
}

/** Most groups have rows of several tables, which as a rule arrived together. */
function rememberTracks({ trackOf }: FeedPorts): FeedPorts["trackOf"] {
  const found = new Map<string, { track: TrackSink | undefined; arrivedNs: ServerNs; isPlain: boolean }>();
  return (groupKey, arrivedNs, isPlain) => {
    const known = found.get(groupKey);
    if (known !== undefined && known.arrivedNs <= arrivedNs && (isPlain || !known.isPlain)) return known.track;
    const track = trackOf(groupKey, arrivedNs, isPlain);
    found.set(groupKey, { track, arrivedNs, isPlain });
    return track;
  };
}

/** The first row with each key. */
function firstRows({ codes, keys, length }: DictColumn): (number | undefined)[] {
  const firsts = new Array<number | undefined>(keys.length).fill(undefined);
  for (let row = 0, found = 0; row < length && found < keys.length; row++) {
    const code = codes[row] as number;
    if (firsts[code] !== undefined) continue;
    firsts[code] = row;
    found++;
  }
  return firsts;
}

function feedNumbers(rows: Rows<"seq_ranges">, { hearNumbers }: FeedPorts): void {
  for (let row = 0; row < rows.worker.length; row++)
    if (rows.events.at(row) > 0)
      hearNumbers(rows.group_key.at(row), rows.worker.at(row), rows.first_seq.at(row), rows.last_seq.at(row));
}

type TrackAt = (row: number) => TrackSink | undefined;

function feedMetrics(rows: Rows<"metrics">, trackAt: TrackAt, { isWatched, receivedNs }: FeedPorts): void {
  const watched = rows.key.keys.map(isWatched);
  // The last point of a metric that no rule watches still says which step its run is at.
  const lastOf: number[] = [];
  const { codes, keys } = rows.key;
  const { length } = rows.key;
  for (let row = 0; row < length; ) {
    const code = codes[row] as number;
    const from = row++;
    if (watched[code] !== true) lastOf[(rows.group_key.codes[from] as number) * keys.length + code] = from;
    else if (!rows.value.isNull(from)) {
      const track = trackAt(from);
      if (track === undefined) continue;
      while (row < length && isOfSameSeries(rows, from, row) && !rows.value.isNull(row) && trackAt(row) === track)
        row++;
      track.addPoints(rows, from, row, receivedNs);
    }
  }
  // Not every run has every key, and `forEach` passes over what is not there.
  let told = -1;
  lastOf.forEach((row) => {
    // All metrics of one event say the same, and there may be very many.
    if (rows.step.isNull(row) || (told >= 0 && isSameMoment(rows, told, row))) return;
    told = row;
    const step = rows.step.inner.at(row);
    trackAt(row)?.addStep({ worker: rows.worker.at(row), step, tsNs: rows.ts_ns.at(row), tookNs: null }, receivedNs);
  });
}

/** Whether two rows say of the same worker that it was at the same step at the same time. */
function isSameMoment({ group_key, worker, step, ts_ns }: Rows<"metrics">, a: number, b: number): boolean {
  if (group_key.codes[a] !== group_key.codes[b] || worker.codes[a] !== worker.codes[b]) return false;
  for (const { words } of [ts_ns, step.inner])
    if (words[a * 2] !== words[b * 2] || words[a * 2 + 1] !== words[b * 2 + 1]) return false;
  return true;
}

function isOfSameSeries({ group_key, key, worker, phase }: Rows<"metrics">, a: number, b: number): boolean {
  return (
    key.codes[a] === key.codes[b] &&
    group_key.codes[a] === group_key.codes[b] &&
    worker.codes[a] === worker.codes[b] &&
    phase.codes[a] === phase.codes[b]
  );
}

function feedSpans(rows: Rows<"spans">, trackAt: TrackAt, receivedNs: ServerNs): void {
  const kinds = rows.name.keys.map((name) => (name === stepSpan ? 1 : isWait.test(name) ? 2 : 0));
  for (let row = 0; row < rows.name.length; row++) {
    const kind = kinds[rows.name.codes[row] as number];
    if (kind === 0) continue;
    const track = trackAt(row);
    if (track === undefined) continue;
    const worker = String(rows.rank.at(row));
    const tsNs = rows.end_ns.at(row);
    const tookNs = Number(tsNs - rows.start_ns.at(row));
    if (kind === 2) track.addWait(worker, tookNs);
    else if (!rows.index.isNull(row))
      track.addStep({ worker, step: rows.index.inner.at(row), tsNs, tookNs }, receivedNs);
  }
}
