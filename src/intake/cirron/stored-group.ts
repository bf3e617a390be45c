// All rows of a group as the store gives them, for groups of a release that stored no components.

import { toIdWords } from "#intake/id-map.ts";
import type { StateRow } from "#model/state-tables.ts";
import { isRepeated, isRootWord, loadId, storedKey } from "./row-ids.ts";
import type { CirronRows } from "./rows.ts";

export interface StoredGroupRows {
  readonly groupKey: string;
  readonly rows: CirronRows;
  readonly sources: readonly string[];
  readonly runOverrides: readonly string[];
  /** The group's stored row. */
  readonly told: StateRow<"groups"> | null;
  readonly aliases: readonly string[];
}

/** Keys of the spans that the rows name and that are not among them. */
export function namedOutside({ rows }: StoredGroupRows): bigint[] {
  const { spans, marks, snapshots } = rows;
  const own = new Set<bigint>();
  for (let row = 0; row < spans.span_id.length; row++) {
    loadId(spans.span_id, row);
    own.add(storedKey());
  }
  const named = new Set<bigint>();
  const columns = [
    { ids: spans.parent_id.inner, nulls: spans.parent_id.nulls.values },
    { ids: marks.span_id, nulls: null },
    { ids: snapshots.span_id, nulls: null },
  ];
  for (const { ids, nulls } of columns) {
    for (let row = 0; row < ids.length; row++) {
      if (nulls?.[row] === 1 || isRepeated(ids, row) || isRootWord(ids, row)) continue;
      loadId(ids, row);
      const key = storedKey();
      if (!own.has(key)) named.add(key);
    }
  }
  return [...named];
}

const textEncoder = new TextEncoder();

/** The stored key of a span's id. */
export function spanKey(id: string): bigint {
  toIdWords(textEncoder.encode(id));
  return storedKey();
}
