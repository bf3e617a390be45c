// The rows of a run in stretches of whole journal records, so that the engine never has to sort more than some at once.

import { type RecordRow, readRecordSizes, streamRecords } from "#store/reader/record-rows.ts";
import { type Store, takenAway } from "#store/store.ts";

/** What the engine sorts at once, unless one journal record has more. */
const rowsAtOnce = 50_000;

export async function* readInStretches(
  store: Store,
  groups: readonly string[],
  signal: AbortSignal,
): AsyncGenerator<AsyncIterable<RecordRow>> {
  const sizes = await readRecordSizes(store, groups, { signal });
  for (let at = 0; at < sizes.length; ) {
    const from = sizes[at] as (typeof sizes)[number];
    let to = from;
    let rows = 0;
    for (; at < sizes.length && (rows === 0 || rows + (sizes[at]?.rows ?? 0) <= rowsAtOnce); at++) {
      to = sizes[at] as typeof to;
      rows += to.rows;
    }
    yield streamRecords(store, groups, { from, to }, { ...takenAway, signal });
  }
}
