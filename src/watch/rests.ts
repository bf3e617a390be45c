// How long rules leave a run alone, in nanoseconds: the longer it has been silent, the less there is to see.

const restNsMin = 5_000_000_000n;
const restNsMax = 30_000_000_000n;
/** What the table says of a run that sends points and nothing else changes only when it falls silent. */
const plainRestNs = 15_000_000_000n;
const livelyRestNs = 60_000_000_000n;

/** Until a run of which nothing came is looked at. What is there is looked at until it has been there for as long as its rule says. */
export function lookAgainAfter(silentNs: bigint, isHeld: boolean): bigint {
  return isHeld ? restNsMin : restAfter(silentNs, restNsMin);
}

/** Until the table is asked for a run; `isChanging` if it may say something else although the run sends nothing but points. */
export function askAgainAfter(silentNs: bigint, isChanging: boolean): bigint {
  if (isChanging) return restAfter(silentNs, restNsMin);
  return silentNs < plainRestNs ? livelyRestNs : restAfter(silentNs, plainRestNs);
}

function restAfter(silentNs: bigint, leastNs: bigint): bigint {
  const restNs = silentNs / 4n;
  if (restNs < leastNs) return leastNs;
  return restNs < restNsMax ? restNs : restNsMax;
}
