// The outline of the store: which groups exist, in which hours rows begin, and which rows and batches arrived lately.
// With it, new records cost no question. It is read while the server already works; until then the store is asked about
// everything that memory lacks.

import { nowNs } from "#base/clock.ts";
import { FingerprintSet } from "#base/fingerprint-set.ts";
import type { RowHours } from "#intake/cirron/recent-rows.ts";
import { hourOf } from "#intake/cirron/row-ids.ts";
import type { StoredOutline } from "#intake/intake-state.ts";
import { columnOf } from "#store/native/decode-block.ts";
import {
  readBatchIdsSince,
  readComponentHours,
  readGroupsWithoutComponent,
  readKeysSince,
  readLastEnd,
  readLatestComponents,
  readRowHours,
} from "#store/reader/cirron-identity.ts";
import { readGroupKeys, readGroupKeysAfter } from "#store/reader/restore.ts";
import type { Store } from "#store/store.ts";
import { untilDone } from "./intake-store.ts";

/** Rows of live jobs began within this many hours. */
const hoursBack = 3;
const recentKeysMax = 4_000_000;
const componentHoursMax = 24 * 365;
/** How many components are listed with their owners. */
const componentsMax = 20_000;
const ledgerNs = 24n * 3600n * 1_000_000_000n;

export const noOutline = "The outline of the store could not be read; the store is asked about new records.";

/**
 * `wholeTo`: the store may have some rows of journal records after this one, though neither all of their rows nor their
 * entries in the small tables. Null when it has none.
 */
export function readOutline(store: Store, wholeTo: number | null = null): Promise<StoredOutline> {
  return untilDone(() => readOnce(store, wholeTo));
}

async function readOnce(store: Store, wholeTo: number | null): Promise<StoredOutline> {
  const groupKeys: string[] = [];
  for await (const { group_key } of readGroupKeys(store)) groupKeys.push(group_key);
  if (wholeTo !== null) for await (const { group_key } of readGroupKeysAfter(store, wholeTo)) groupKeys.push(group_key);
  const now = nowNs();
  const hours = await readRowHours(store);
  const recentIds = await readRecent(store, hours, hourOf(now));
  // Read after the ids, so that rows which others store meanwhile do not end later.
  const rowHours = await readHours(store, hours, wholeTo !== null);
  const recentHours = new Map([...rowHours].filter(([hour]) => isRecent(hour, hourOf(now))));
  const { sinceNs, places } = await readLatestComponents(store, componentsMax);
  const otherHours = await readComponentHours(store, sinceNs, componentHoursMax);
  const batches = await readBatchIdsSince(store, now - ledgerNs);
  const batchIds = new Map(
    [...Map.groupBy(batches, ({ workspace }) => workspace)].map(([workspace, rows]) => [
      workspace,
      rows.map(({ batch_id }) => batch_id),
    ]),
  );
  return {
    groupKeys,
    rowHours,
    recentRows: recentIds === null ? null : { ids: recentIds, hours: recentHours },
    components: Map.groupBy(places, ({ workspace }) => workspace),
    otherComponentHours: otherHours === null ? null : new Set(otherHours),
    batchIds,
  };
}

/** A row that begins after the end of every component is new. The component of a lost plan may be missing. */
async function readHours(store: Store, hours: readonly number[], isBroken: boolean): Promise<RowHours> {
  const isWhole = !isBroken && (await readGroupsWithoutComponent(store, 1)).length === 0;
  const last = isWhole ? Number(await readLastEnd(store)) : Number.POSITIVE_INFINITY;
  return new Map(hours.map((hour) => [hour, last]));
}

function isRecent(hour: number, nowHour: number): boolean {
  return hour >= nowHour - hoursBack && hour <= nowHour + 1;
}

async function readRecent(store: Store, hours: readonly number[], nowHour: number): Promise<FingerprintSet | null> {
  if (!hours.some((hour) => isRecent(hour, nowHour))) return null;
  const blocks = await readKeysSince(store, nowHour - hoursBack, nowHour + 1, recentKeysMax);
  const count = blocks.reduce((sum, { rows }) => sum + rows, 0);
  // More than a filter holds, so only the store can tell.
  if (count >= recentKeysMax) return null;
  const ids = new FingerprintSet(count);
  for (const block of blocks) {
    const { values } = columnOf(block, "id_key", "int64");
    const words = new Uint32Array(values.buffer, values.byteOffset, values.length * 2);
    for (let row = 0; row < block.rows; row++) ids.add(words[row * 2] as number, words[row * 2 + 1] as number);
  }
  return ids;
}
