// Which events are known: one SeqSet per group and worker, and a bound on the memory of all of them.
//
// A group's identities are complete here or not here at all. Those of a group that is in the store but not here (after
// a restart, or when it was let go to save memory) are loaded before its next events are applied: `isComplete` says
// whether they must be, `load` takes them, `complete` ends it.

import { SeqSet, unknownContent, type Verdict } from "./seq-set.ts";

interface GroupIds {
  readonly workers: Map<string, SeqSet>;
  /** The last journal record that touched the group. */
  position: number;
}

export class XtrackIdentities {
  private readonly groups = new Map<string, GroupIds>();

  isComplete(groupKey: string): boolean {
    return this.groups.has(groupKey);
  }

  /** A new group, or one whose stored identities are now loaded with `load`. */
  complete(groupKey: string, position: number): void {
    const group = this.groups.get(groupKey);
    if (group === undefined) this.groups.set(groupKey, { workers: new Map(), position });
    else group.position = position;
  }

  /** An identity from the store. */
  load(groupKey: string, worker: string, seq: bigint, tsNs: bigint): Verdict {
    const [seqLow, seqHigh] = toWords(seq);
    const [tsLow, tsHigh] = toWords(tsNs);
    return this.setOf(groupKey, worker, 0).add(seqLow, seqHigh, tsLow, tsHigh, unknownContent);
  }

  /** The set of a group's worker, to be kept for the length of one journal record. */
  setOf(groupKey: string, worker: string, position: number): SeqSet {
    let group = this.groups.get(groupKey);
    if (group === undefined) {
      group = { workers: new Map(), position };
      this.groups.set(groupKey, group);
    }
    group.position = Math.max(group.position, position);
    let set = group.workers.get(worker);
    if (set === undefined) {
      set = new SeqSet();
      group.workers.set(worker, set);
    }
    return set;
  }

  /** The group was deleted: its events are new when they come again. */
  forget(groupKey: string): void {
    this.groups.delete(groupKey);
  }

  get byteSize(): number {
    let sum = 0;
    for (const { workers } of this.groups.values()) for (const set of workers.values()) sum += set.byteSize;
    return sum;
  }

  /**
   * Lets go of the groups that were longest untouched until the rest fits. Only groups whose every row is in the store
   * go, because they are loaded from there again: `storedPosition` is the last journal record that is stored.
   */
  shrink(bytesMax: number, storedPosition: number): number {
    let size = this.byteSize;
    let dropped = 0;
    const oldest = [...this.groups].sort(([, a], [, b]) => a.position - b.position);
    for (const [groupKey, { workers, position }] of oldest) {
      if (size <= bytesMax || position > storedPosition) break;
      for (const set of workers.values()) size -= set.byteSize;
      this.groups.delete(groupKey);
      dropped++;
    }
    return dropped;
  }
}

function toWords(value: bigint): [number, number] {
  return [Number(BigInt.asUintN(32, value)), Number(BigInt.asUintN(32, value >> 32n))];
}
