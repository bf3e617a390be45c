// How the one budget of memory is shared. Each share bounds what its owner holds, counted as it lies in memory; the
// runtime and what passes through take the rest.

/** How near the process is to its budget. */
export type Strain = "none" | "tight" | "full";

export function shareMemory(budgetBytes: number) {
  const part = (share: number): number => Math.floor(budgetBytes * share);
  return {
    /** Rows on their way to the store. Beyond it records wait in the journal and are decoded again. */
    pendingBytes: part(1 / 4),
    /** Bodies that are decoded and not applied yet, with the columns that they were decoded to. */
    bodiesBytes: part(1 / 16),
    /** XTrack frames that are being gathered into records, wait for the disk, or cannot be journalled. */
    framesBytes: part(1 / 16),
    /** Groups of runs with the records that are known of them. */
    groupsBytes: part(1 / 8),
    /** Rows kept for live subscribers that come late. */
    liveBytes: part(1 / 16),
    /** Answers kept for the next question. */
    answersBytes: part(1 / 4),
  };
}
