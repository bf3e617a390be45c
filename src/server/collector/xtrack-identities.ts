// Reads back the numbered events of an XTrack group: all of a short run, only the ranges of a long one.

import { clampInt64, int64Max } from "#base/int64.ts";
import type { AwayPart, TimeWindow } from "#intake/away-events.ts";
import type { IntakeLimits } from "#intake/intake-state.ts";
import type { LoadingGroup } from "#intake/known-groups.ts";
import { columnOf, type DecodedBlock } from "#store/native/decode-block.ts";
import {
  type EventPlace,
  readControlIdentities,
  readEventIdentities,
  readEventOutline,
  readEventPlaces,
} from "#store/reader/event-identities.ts";
import type { Store } from "#store/store.ts";

/** How many events are read back for one late event, over all workers. */
const shareEvents = 131_072;
/** More than a time in a double is off. */
const roundedNs = 1024;

export async function takeEvents(
  store: Store,
  groupKey: string,
  loading: LoadingGroup,
  { wholeEventsMax }: Pick<IntakeLimits, "wholeEventsMax">,
): Promise<void> {
  const { events, borders } = await readEventOutline(store, groupKey);
  if (events <= wholeEventsMax) {
    for await (const block of readEventIdentities(store, groupKey)) takeBlock(block, loading);
  } else {
    const places = await readEventPlaces(store, groupKey, thin(borders, Math.ceil(events / shareEvents)));
    for (const { worker, part } of toParts(places)) loading.away(worker, part);
  }
  for await (const block of readControlIdentities(store, groupKey)) takeBlock(block, loading);
}

export async function takeEventsWithin(
  store: Store,
  groupKey: string,
  window: TimeWindow,
  returning: LoadingGroup,
): Promise<void> {
  const times = { fromNs: widen(window.fromNs, -roundedNs), toNs: widen(window.toNs, roundedNs) };
  for await (const block of readEventIdentities(store, groupKey, times)) takeBlock(block, returning);
}

function widen(ns: number, by: number): bigint {
  return clampInt64(BigInt(ns) + BigInt(by));
}

/** At most this many shares. Times before the first border belong to the first share. */
function thin(borders: readonly number[], shares: number): bigint[] {
  const every = Math.max(1, Math.floor((borders.length + 1) / shares));
  const kept = borders
    .filter((_, at) => (at + 1) % every === 0)
    .map((border) => clampInt64(BigInt(Math.floor(border))));
  return [-int64Max, ...new Set(kept)];
}

function toParts(places: readonly EventPlace[]): { readonly worker: string; readonly part: AwayPart }[] {
  const windows = new Map<bigint, TimeWindow>();
  for (const { share, fromNs, toNs } of places) {
    const known = windows.get(share);
    windows.set(share, {
      fromNs: Math.min(known?.fromNs ?? Number.POSITIVE_INFINITY, Number(fromNs)),
      toNs: Math.max(known?.toNs ?? Number.NEGATIVE_INFINITY, Number(toNs)),
    });
  }
  return places.map(({ worker, share, firstSeq, lastSeq, fromNs, toNs, events }) => ({
    worker,
    part: {
      firstSeq: Number(firstSeq),
      lastSeq: Number(lastSeq),
      fromNs: Number(fromNs),
      toNs: Number(toNs),
      events,
      window: windows.get(share) as TimeWindow,
    },
  }));
}

function takeBlock(block: DecodedBlock, loading: LoadingGroup): void {
  const workers = columnOf(block, "worker", "dict");
  const seqs = toWords(columnOf(block, "seq", "int64").values);
  const times = toWords(columnOf(block, "ts_ns", "int64").values);
  for (let row = 0, low = 0, high = 1; row < block.rows; row++, low += 2, high += 2) {
    const worker = workers.keys[workers.codes[row] as number] as string;
    loading.event(worker, seqs[low] as number, seqs[high] as number, times[low] as number, times[high] as number);
  }
}

/** The low and high word of each number. */
function toWords({ buffer, byteOffset, length }: BigInt64Array): Uint32Array {
  return new Uint32Array(buffer, byteOffset, length * 2);
}
