// How the one budget of memory is shared. Each share bounds what its owner holds, counted as it lies in memory; the
// runtime and what passes through take the rest.

export interface MemoryShares {
  /** Rows on their way to the store. Beyond it records wait in the journal and are decoded again. */
  readonly pendingBytes: number;
  /** Bodies that are decoded and not applied yet, with the columns that they were decoded to. */
  readonly bodiesBytes: number;
  /** XTrack frames that cannot be journalled, and as much again that is being gathered into records. */
  readonly framesBytes: number;
  /** Groups of runs with the records that are known of them. */
  readonly groupsBytes: number;
  /** Rows kept for live subscribers that come late. */
  readonly liveBytes: number;
  /** Answers kept for the next question. */
  readonly answersBytes: number;
}

export function shareMemory(budgetBytes: number): MemoryShares {
  const part = (share: number): number => Math.floor(budgetBytes * share);
  return {
    pendingBytes: part(1 / 4),
    bodiesBytes: part(1 / 16),
    framesBytes: part(1 / 16),
    groupsBytes: part(1 / 8),
    liveBytes: part(1 / 16),
    answersBytes: part(1 / 4),
  };
}
