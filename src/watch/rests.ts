// How long rules leave a run alone, in nanoseconds: the longer it has been silent, the less there is to see.

const restNsMin = 5_000_000_000n;
const restNsMax = 30_000_000_000n;
/** What the table says of a run that sends points and nothing else changes only when it falls silent. */
const plainRestNs = 15_000_000_000n;
const livelyRestNs = 60_000_000_000n;

/** How long a silent run is left alone; `isHeld` while a condition holds that has not held for as long as its rule says. */
export function lookAgainAfter(silentNs: bigint, isHeld: boolean): bigint {
  return isHeld ? restNsMin : restAfter(silentNs, restNsMin);
}

/** How long until the table is asked for a run again; `isChanging` if its row may change although the run sends only points. */
export function askAgainAfter(silentNs: bigint, isChanging: boolean): bigint {
  if (isChanging) return restAfter(silentNs, restNsMin);
  return silentNs < plainRestNs ? livelyRestNs : restAfter(silentNs, plainRestNs);
}

function restAfter(silentNs: bigint, leastNs: bigint): bigint {
  const restNs = silentNs / 4n;
  if (restNs < leastNs) return leastNs;
  return restNs < restNsMax ? restNs : restNsMax;
}
