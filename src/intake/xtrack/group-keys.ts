// The group of a run's events, `<workspace>/x/<run id as the client sent it>`.
//
// The same runs recur, in a fleet with every record, so the keys of recent runs are kept: looking up the same string object
// again is faster than building, hashing and comparing a new one.

import { formatGroupKey, type GroupKey, groupKinds } from "#model/group-key.ts";

/** By workspace and run. */
const lateKeys = new Map<string, Map<string, GroupKey>>();
let lateCount = 0;
const lateKeysMax = 20_000;
/** Longer names are not kept, so that a sender who makes them up cannot fill memory. */
const lateCharsMax = 128;

export function toGroupKey(workspace: string, run: string): GroupKey {
  const known = lateKeys.get(workspace)?.get(run);
  if (known !== undefined) return known;
  const key = formatGroupKey(workspace, groupKinds.xtrackRun, run);
  if (key.length <= lateCharsMax) keep(workspace, run, key);
  return key;
}

function keep(workspace: string, run: string, key: GroupKey): void {
  if (lateCount >= lateKeysMax) {
    lateKeys.clear();
    lateCount = 0;
  }
  const keys = lateKeys.get(workspace) ?? new Map<string, GroupKey>();
  lateKeys.set(workspace, keys.set(run, key));
  lateCount++;
}
