// The order of a series: by step, points without one first, then by time, tie and entry, and at last by worker.

/** Comes before every step. */
export const stepOr = (step: string): string => `ifNull(${step}, toInt64(-9223372036854775808))`;

/**
 * Tells points of the same time apart: the sequence number, or a hash of the mark's id for a point of a mark or a span,
 * which has none.
 */
export const tieOf = (point: string): string =>
  `if(${point}.mark_id = '', ${point}.seq, reinterpretAsInt64(cityHash64(${point}.mark_id)))`;
