// Where marks of a batch stand, by the spans of the same batch: the worker, step and epoch that an answer out of the
// store gives them. A span that comes later, as parents do, is known only to the store.

import type { Batch } from "#model/batch.ts";
import type { Rows } from "#model/tables.ts";

export interface MarkPlace {
  /** The rank as text; '' when no span of the batch tells it. */
  readonly worker: string;
  readonly step: bigint | null;
  readonly epoch: bigint | null;
}

/** A mark's own span and three above it, as far as answers out of the store look too. */
const levels = 4;

/** Gives the place of a mark by the id of its span. */
export function createMarkPlaces(batch: Batch): (spanId: string) => MarkPlace {
  const spans = batch.parts.flatMap((part) => (part.table === "spans" ? [part.rows] : []));
  const found = new Map<string, { readonly rows: Rows<"spans">; readonly row: number }>();
  let rank: number | null = null;
  for (const rows of spans)
    for (let row = 0; row < rows.span_id.length; row++) {
      found.set(rows.span_id.at(row), { rows, row });
      rank = Math.min(rank ?? rows.rank.at(row), rows.rank.at(row));
    }
  const worker = rank === null ? "" : String(rank);
  return (spanId) => {
    const indexes = new Map<string, bigint | null>();
    let at = found.get(spanId);
    for (let level = 0; level < levels && at !== undefined; level++) {
      const { rows, row } = at;
      const name = rows.name.at(row);
      if (!indexes.has(name)) indexes.set(name, rows.index.isNull(row) ? null : rows.index.inner.at(row));
      at = rows.parent_id.isNull(row) ? undefined : found.get(rows.parent_id.inner.at(row));
    }
    return { worker, step: indexes.get("step") ?? null, epoch: indexes.get("epoch") ?? null };
  };
}
