// Rows of some groups between two times; null leaves an end open.

import type { ParamValue } from "#store/params.ts";
import { allOf, inGroups } from "./group-scope.ts";

export interface TimeWindow {
  readonly groups: readonly string[];
  readonly fromNs: bigint | null;
  readonly toNs: bigint | null;
}

/** A condition on a column of times. */
export function inTimeWindow(column: string, { fromNs, toNs }: Omit<TimeWindow, "groups">): string {
  return allOf(
    inGroups,
    fromNs === null ? "" : `${column} >= {from_ns:Int64}`,
    toNs === null ? "" : `${column} < {to_ns:Int64}`,
  );
}

export function windowParams({ groups, fromNs, toNs }: TimeWindow): Record<string, ParamValue> {
  return {
    groups,
    ...(fromNs === null ? {} : { from_ns: fromNs }),
    ...(toNs === null ? {} : { to_ns: toNs }),
  };
}
