// The group of a run's events, `<workspace>/x/<run id as the client sent it>`.
//
// A live run recurs, and in a fleet with every record. So the keys of runs that came lately are kept: a
// text that is the same object is found in a table without being made, hashed and compared anew.

import { formatGroupKey, type GroupKey, groupKinds } from "#model/group-key.ts";

/** By workspace and run. */
const lateKeys = new Map<string, Map<string, GroupKey>>();
let lateCount = 0;
const lateKeysMax = 20_000;
/** Whoever makes up long names must not fill our memory. */
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
