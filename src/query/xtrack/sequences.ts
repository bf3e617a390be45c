// Which sequence numbers of a worker came, came twice, or never came: per incarnation, from the stored ranges alone.
//
// Numbers start at 1 in every incarnation and grow by 1, so whatever is missing below the greatest one is a gap; a late
// event closes it. Nothing is known about numbers after the last.

import { compare } from "#base/compare-text.ts";
import { readSeqRanges, readWorkerStarts, type SeqRange } from "#store/reader/sequences.ts";
import type { Store } from "#store/store.ts";
import { Incarnations, toWorkerKey } from "./incarnations.ts";

interface Gap {
  readonly fromSeq: bigint;
  readonly toSeq: bigint;
}

export interface WorkerSequence {
  readonly groupKey: string;
  readonly worker: string;
  readonly incarnation: number;
  readonly firstSeq: bigint;
  readonly lastSeq: bigint;
  readonly received: number;
  /** Copies that arrived again and were not stored. */
  readonly duplicates: number;
  /** Events beyond the first with one sequence number: both are kept, and one of the two numbers is wrong. */
  readonly conflicts: number;
  readonly missing: bigint;
  readonly firstNs: bigint;
  readonly lastNs: bigint;
  readonly gaps: readonly Gap[];
}

const gapsShownMax = 1000;

export async function readSequences({ store }: { readonly store: Store }, groups: readonly string[]) {
  const [ranges, starts] = await Promise.all([readSeqRanges(store, groups), readWorkerStarts(store, groups)]);
  const incarnations = new Incarnations(starts);
  return { sequences: toSequences(ranges, incarnations), incarnations };
}

export function toSequences(ranges: Iterable<SeqRange>, incarnations: Incarnations): WorkerSequence[] {
  const sequences = Map.groupBy(ranges, ({ groupKey, worker, firstNs }) => {
    return `${toWorkerKey(groupKey, worker)}\n${incarnations.of(groupKey, worker, firstNs)}`;
  });
  return [...sequences.values()]
    .map((all) => toSequence(all, incarnations))
    .sort((a, b) => compare(a.groupKey, b.groupKey) || compare(a.worker, b.worker) || a.incarnation - b.incarnation);
}

function toSequence(ranges: readonly SeqRange[], incarnations: Incarnations): WorkerSequence {
  const sorted = ranges.toSorted((a, b) => compare(a.firstSeq, b.firstSeq) || compare(a.lastSeq, b.lastSeq));
  const first = sorted[0] as SeqRange;
  const gaps: Gap[] = [];
  let missing = 0n;
  let reached = 0n;
  let covered = first.firstSeq === 0n ? 1n : 0n;
  let received = 0;
  let duplicates = 0;
  for (const range of sorted) {
    if (range.firstSeq > reached + 1n) {
      missing += range.firstSeq - reached - 1n;
      if (gaps.length < gapsShownMax) gaps.push({ fromSeq: reached + 1n, toSeq: range.firstSeq - 1n });
      reached = range.firstSeq - 1n;
    }
    if (range.lastSeq > reached) {
      covered += range.lastSeq - reached;
      reached = range.lastSeq;
    }
    received += range.events;
    duplicates += range.duplicates;
  }
  return {
    groupKey: first.groupKey,
    worker: first.worker,
    incarnation: incarnations.of(first.groupKey, first.worker, first.firstNs),
    firstSeq: first.firstSeq,
    lastSeq: reached,
    received,
    duplicates,
    conflicts: Math.max(0, received - Number(covered)),
    missing,
    firstNs: sorted.reduce((least, range) => (range.firstNs < least ? range.firstNs : least), first.firstNs),
    lastNs: sorted.reduce((most, range) => (range.lastNs > most ? range.lastNs : most), first.lastNs),
    gaps,
  };
}
