// The rows of a run in stretches of whole journal records, so that the engine never has to sort more than some at once.

import { StoreOutage } from "#store/outage.ts";
import { type RecordRow, readRecordSizes, streamRecords } from "#store/reader/record-rows.ts";
import type { Store } from "#store/store.ts";

/** What the engine sorts at once, unless one journal record has more. */
export const rowsAtOnce = 50_000;

type RecordSize = Awaited<ReturnType<typeof readRecordSizes>>[number];
type Stretch = readonly [RecordSize, ...RecordSize[]];

export async function* readInStretches(
  store: Store,
  groups: readonly string[],
): AsyncGenerator<AsyncIterable<RecordRow>> {
  const sizes = await readRecordSizes(store, groups);
  for (let at = 0; at < sizes.length; ) {
    const stretch: [RecordSize, ...RecordSize[]] = [sizes[at++] as RecordSize];
    let { rows } = stretch[0];
    for (; at < sizes.length && rows + (sizes[at]?.rows ?? 0) <= rowsAtOnce; at++) {
      stretch.push(sizes[at] as RecordSize);
      rows += sizes[at]?.rows ?? 0;
    }
    yield readStretch(store, groups, stretch);
  }
}

/** A few rows may have hundreds of megabytes: what is too much for the engine is read in halves. */
async function* readStretch(store: Store, groups: readonly string[], stretch: Stretch): AsyncGenerator<RecordRow> {
  const between = { from: stretch[0], to: stretch.at(-1) as RecordSize };
  const rows = streamRecords(store, groups, between);
  let next: IteratorResult<RecordRow>;
  try {
    // They are sorted before the first one comes.
    next = await rows.next();
  } catch (error) {
    if (!isTooMuch(error) || stretch.length === 1) throw error;
    const half = stretch.length >> 1;
    yield* readStretch(store, groups, stretch.slice(0, half) as unknown as Stretch);
    yield* readStretch(store, groups, stretch.slice(half) as unknown as Stretch);
    return;
  }
  for (; !next.done; next = await rows.next()) yield next.value;
}

/** Whether the engine had no memory for what it was asked. */
export function isTooMuch(error: unknown): boolean {
  return error instanceof StoreOutage && error.kind === "overloaded";
}
