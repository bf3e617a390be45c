// A page of everything that a run received, each record with its text.

import { inShortPieces } from "#base/json/texts.ts";
import { inTurns, Turn } from "#base/turns.ts";
import type { RowPlace } from "#model/positions.ts";
import { rowFlags } from "#model/row-flags.ts";
import type { RecordText } from "#protocol/stored-record.ts";
import { findSeqConflicts } from "#query/xtrack/seq-conflicts.ts";
import { shownBytesMax } from "#store/reader/cut-text.ts";
import type { RecordPlace } from "#store/reader/record-place.ts";
import {
  type RecordPage,
  readRecordAt,
  readRecordPage,
  readRecordTypes,
  type ShownRow,
} from "#store/reader/record-rows.ts";
import type { Store } from "#store/store.ts";
import { encodeTexts } from "./encode-texts.ts";
import { groupRows, toRecordText } from "./record-text.ts";

export type { RecordPlace };

/** In the order of arrival, and how many match by type. */
export async function listEvents(store: Store, page: RecordPage) {
  const [rows, types] = await Promise.all([readRecordPage(store, page), readRecordTypes(store, page)]);
  const events: Awaited<ReturnType<typeof toEvent>>[] = [];
  for (const record of groupRows(rows)) events.push(await toEvent(record));
  const conflicts = await findSeqConflicts(store, page.groups, events);
  return {
    events: events.map((event) =>
      conflicts.has(event) ? { ...event, flags: event.flags | rowFlags.seq_conflict } : event,
    ),
    types: Object.fromEntries(types),
  };
}

/** The whole text of the record at a place, in chunks; null when these groups have none there. */
export async function readEventText(
  store: Store,
  groups: readonly string[],
  place: RowPlace,
): Promise<AsyncIterable<Uint8Array> | null> {
  const [record] = groupRows(await readRecordAt(store, groups, place));
  if (record === undefined) return null;
  // It may have megabytes: to read it, to put it together and to send it are turns of their own.
  const turn = new Turn();
  await turn.pass();
  const { text } = await inTurns(toRecordText(record));
  await turn.pass();
  return encodeTexts(inShortPieces(text));
}

async function toEvent(record: [ShownRow, ...ShownRow[]]) {
  const { group_key: groupKey, protocol, type, worker, seq, ts_ns, received_ns, collector, jpos, jrow } = record[0];
  const flags = record.reduce((bits, row) => bits | row.flags, 0);
  const head = { groupKey, protocol, type, worker, seq, ts_ns, received_ns, flags, collector, jpos, jrow };
  const bytes = record.reduce((sum, row) => sum + row.bytes, 0);
  // One that lies in many small rows is whole here, and is cut as text.
  if (record.every((row) => row.bytes <= shownBytesMax))
    return { ...head, ...cutShown(await inTurns(toRecordText(record))) };
  return { ...head, text: findLargest(record), rebuilt: record[0].raw === "", cut_from: bytes };
}

function cutShown({ text: pieces, rebuilt }: RecordText) {
  const text = pieces.join("");
  if (text.length <= shownBytesMax) return { text, rebuilt };
  return { text: text.slice(0, shownBytesMax).toWellFormed(), rebuilt, cut_from: Buffer.byteLength(text) };
}

/** What came, if that is kept; else of its parts, which are cut and cannot be put together again, the longest. */
function findLargest(record: readonly ShownRow[]): string {
  const parts = record.flatMap(({ raw, extra, cells }) =>
    raw === "" ? [extra, ...cells.map((cell) => cell ?? "")] : [raw],
  );
  return parts.reduce((longest, part) => (part.length > longest.length ? part : longest), "");
}
