// Which events of a page share their sequence number with another event of the same incarnation. Both are kept. Incarnations
// are known only when reading, so the flag is not stored but found here, and only for runs whose ranges show such a pair.

import { type NumberedEvent, readNumbered } from "#store/reader/sequences.ts";
import type { Store } from "#store/store.ts";
import { readSequences } from "./sequences.ts";

/** Workers count what they send to commands apart. */
const uncounted: ReadonlySet<string> = new Set(["ack", "command"]);

interface PageEvent extends Omit<NumberedEvent, "seq"> {
  readonly protocol: string;
  readonly type: string;
  readonly seq: string | null;
}

export async function findSeqConflicts<E extends PageEvent>(
  store: Store,
  groups: readonly string[],
  page: readonly E[],
): Promise<ReadonlySet<E>> {
  const counted = page.filter((row) => row.protocol === "xtrack" && row.seq !== null && !uncounted.has(row.type));
  if (counted.length === 0) return new Set();
  const { sequences, incarnations } = await readSequences({ store }, groups);
  if (sequences.every(({ conflicts }) => conflicts === 0)) return new Set();
  const seqs = [...new Set(counted.map((row) => row.seq as string))];
  const keyOf = ({ groupKey, worker, seq, ts_ns }: Pick<PageEvent, "groupKey" | "worker" | "seq" | "ts_ns">) =>
    JSON.stringify([groupKey, worker, incarnations.of(groupKey, worker, BigInt(ts_ns)), seq]);
  const sharing = Map.groupBy(await readNumbered(store, groups, seqs), keyOf);
  return new Set(counted.filter((row) => (sharing.get(keyOf(row))?.length ?? 0) > 1));
}
