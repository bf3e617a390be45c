// Stored rows back to the records that were received: the original text if it is kept, else one that is equal in every
// value. The record's protocol does the work.

import { protocolNamed } from "#protocol/protocols.ts";
import type { RecordText } from "#protocol/stored-record.ts";
import { isSamePlace } from "#store/reader/record-place.ts";
import type { RecordRow } from "#store/reader/record-rows.ts";

/** Rows of one record stand together in the order of arrival. */
export function groupRows<R extends RecordRow>(rows: readonly R[]): [R, ...R[]][] {
  const records: [R, ...R[]][] = [];
  for (const row of rows) {
    const last = records.at(-1);
    if (last !== undefined && isSamePlace(last[0], row)) last.push(row);
    else records.push([row]);
  }
  return records;
}

/** The same for rows that come one by one. */
export async function* inRecords(rows: AsyncIterable<RecordRow>): AsyncGenerator<[RecordRow, ...RecordRow[]]> {
  let record: [RecordRow, ...RecordRow[]] | null = null;
  for await (const row of rows) {
    if (record !== null && isSamePlace(record[0], row)) record.push(row);
    else {
      if (record !== null) yield record;
      record = [row];
    }
  }
  if (record !== null) yield record;
}

/** With pauses, as it may be long. */
export function toRecordText(rows: readonly [RecordRow, ...RecordRow[]]): Generator<void, RecordText> {
  return protocolNamed(rows[0].protocol).records.toText(rows);
}
