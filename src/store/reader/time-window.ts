// Rows of some groups between two times; null leaves an end open.

import type { ParamValue } from "#store/params.ts";

export interface TimeWindow {
  readonly groups: readonly string[];
  readonly fromNs: bigint | null;
  readonly toNs: bigint | null;
}

/** A condition on a column of times. */
export function inTimeWindow(column: string, { fromNs, toNs }: Omit<TimeWindow, "groups">): string {
  return `group_key IN {groups:Array(String)}${fromNs === null ? "" : ` AND ${column} >= {from_ns:Int64}`}${
    toNs === null ? "" : ` AND ${column} < {to_ns:Int64}`
  }`;
}

export function windowParams({ groups, fromNs, toNs }: TimeWindow): Record<string, ParamValue> {
  return {
    groups,
    ...(fromNs === null ? {} : { from_ns: fromNs }),
    ...(toNs === null ? {} : { to_ns: toNs }),
  };
}
