// Apart from the schemas, so that a page which only reads the bits need not load what checks them.

/** Bits of `spans.flags`. */
export const spanFlags = {
  /** An ancestor that never arrived: known only by the children that name it. */
  placeholder: 1,
  /** Started, but no end has arrived. */
  unfinished: 2,
  /** A Semantiva node execution. */
  node: 4,
  /** A node that ended in error. */
  error: 8,
  /** Its parent is named but has not arrived. */
  orphan: 16,
} as const;
