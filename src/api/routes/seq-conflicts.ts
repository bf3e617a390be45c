// Which events of a page share their sequence number with another one of the same incarnation. Both are kept, and which
// belong to one incarnation is known only when reading, so the flag is not stored: it is found here, and only for runs
// whose ranges say that there is such a pair.

import type { EventRecord, RecordReads } from "#api/record-reads.ts";
import { Incarnations } from "#query/xtrack/incarnations.ts";
import { toSequences } from "#query/xtrack/sequences.ts";

/** Workers count what they send to commands apart. */
const uncounted: ReadonlySet<string> = new Set(["ack", "command"]);

export async function findSeqConflicts(
  records: RecordReads,
  groups: readonly string[],
  page: readonly EventRecord[],
): Promise<ReadonlySet<EventRecord>> {
  const counted = page.filter((row) => row.protocol === "xtrack" && row.seq !== null && !uncounted.has(row.type));
  if (counted.length === 0) return new Set();
  const { ranges, starts } = await records.sequences(groups);
  const incarnations = new Incarnations(starts);
  if (toSequences(ranges, incarnations).every(({ conflicts }) => conflicts === 0)) return new Set();
  const seqs = [...new Set(counted.map((row) => row.seq as string))];
  const keyOf = ({ groupKey, worker, seq, tsNs }: { groupKey: string; worker: string; seq: string; tsNs: string }) =>
    JSON.stringify([groupKey, worker, incarnations.of(groupKey, worker, BigInt(tsNs)), seq]);
  const times = Map.groupBy(await records.numbered(groups, seqs), keyOf);
  return new Set(
    counted.filter((row) => {
      const { groupKey, worker, seq, ts_ns: tsNs } = row;
      return (times.get(keyOf({ groupKey, worker, seq: seq as string, tsNs }))?.length ?? 0) > 1;
    }),
  );
}
