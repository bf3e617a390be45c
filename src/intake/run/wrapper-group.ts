// The group of one wrapper: `tributary run` around a program. A captured line is identified by its stream and offset, a record
// of the wrapper itself by its number.

import { createHash } from "node:crypto";
import { type IdMap, idWords } from "#intake/id-map.ts";
import { formatGroupKey, type GroupKey, groupKinds } from "#model/group-key.ts";

export function wrapperKey({ workspace, wrapperId }: { workspace: string; wrapperId: string }): GroupKey {
  return formatGroupKey(workspace, groupKinds.wrapper, wrapperId);
}

/** Puts the identity of a captured line into `idWords`: its stream and its offset, or its number. */
export function loadCaptured(stream: string, offset: number): void {
  const digest = createHash("sha256").update(`${stream}\0${offset}`).digest();
  for (let word = 0; word < 4; word++) idWords[word] = digest.readUInt32BE(word * 4);
}

/** The records that were not known; they are from now on. */
export function takeFresh<T>(
  known: IdMap,
  records: readonly T[],
  identityOf: (record: T) => readonly [stream: string, offset: number],
): T[] {
  return records.filter((record) => {
    loadCaptured(...identityOf(record));
    return known.getOrSet(0) < 0;
  });
}
