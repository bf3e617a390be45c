// The order of a series: by step, points without one first, then by time, tie and entry, and at last by worker.

/** Comes before every step. */
export const stepOr = (step: string): string => `ifNull(${step}, toInt64(-9223372036854775808))`;

/** What tells points of one time apart: the sequence number, or for a point of a mark or a span, which has none, a hash of its id. */
export const tieOf = (point: string): string =>
  `if(${point}.mark_id = '', ${point}.seq, reinterpretAsInt64(cityHash64(${point}.mark_id)))`;
