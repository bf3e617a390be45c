// The worker, step and epoch of live marks, as an answer from the store would give them. The worker is the rank of the
// mark's group; step and epoch are those of the spans around it, which arrived with it or shortly before. A span that
// arrives later, as parents do, is known only to the store.

import type { Batch } from "#model/batch.ts";
import type { Rows } from "#model/tables.ts";

export interface MarkPlace {
  /** The rank as text; '' if unknown. */
  readonly worker: string;
  readonly step: bigint | null;
  readonly epoch: bigint | null;
}

interface FoundSpan {
  readonly rows: Rows<"spans">;
  readonly row: number;
}

/** A mark's own span and three above it, as in answers from the store. */
const levels = 4;

/** Kept as long as the batch; made only for batches that somebody watches. */
const indexes = new WeakMap<Batch, ReadonlyMap<string, FoundSpan>>();

/** Gives the place of a mark by its group and the id of its span. `earlier` are batches before this one, newest first. */
export function createMarkPlaces(
  batch: Batch,
  earlier: readonly Batch[],
): (groupKey: string, spanId: string) => MarkPlace {
  const ranks = new Map<string, number>();
  // The newest entry of a group counts.
  for (const { state } of [batch, ...earlier].reverse())
    for (const change of state) if (change.table === "groups") ranks.set(change.row.group_key, change.row.rank);
  const find = (spanId: string): FoundSpan | undefined => {
    for (const one of [batch, ...earlier]) {
      const found = indexOf(one).get(spanId);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return (groupKey, spanId) => {
    const found = new Map<string, bigint | null>();
    let at = find(spanId);
    for (let level = 0; level < levels && at !== undefined; level++) {
      const { rows, row } = at;
      const name = rows.name.at(row);
      if (!found.has(name)) found.set(name, rows.index.isNull(row) ? null : rows.index.inner.at(row));
      at = rows.parent_id.isNull(row) ? undefined : find(rows.parent_id.inner.at(row));
    }
    const worker = ranks.get(groupKey)?.toString() ?? "";
    return { worker, step: found.get("step") ?? null, epoch: found.get("epoch") ?? null };
  };
}

function indexOf(batch: Batch): ReadonlyMap<string, FoundSpan> {
  const known = indexes.get(batch);
  if (known !== undefined) return known;
  const found = new Map<string, FoundSpan>();
  for (const part of batch.parts)
    if (part.table === "spans")
      for (let row = 0; row < part.rows.span_id.length; row++)
        found.set(part.rows.span_id.at(row), { rows: part.rows, row });
  indexes.set(batch, found);
  return found;
}
