// What is odd about a stored row, as bits of its `flags` column.

export const rowFlags = {
  /** A metric whose value is not a number, or no exact double: see `value_text`. */
  odd_value: 1,
  /** A step or epoch that is no 64-bit integer: see `step_text` and `extra`. */
  odd_step: 2,
  /** A word outside the document's list (status, level, phase, artifact type, …), kept as sent. */
  unlisted_word: 4,
  /** A text with a lone surrogate: every text column of the row (not those of JSON) is in its JSON-escaped form. */
  escaped_text: 8,
  /** Same sequence number with another time inside one incarnation. */
  seq_conflict: 16,
  /** An event type this version does not know. */
  unknown_type: 32,
  /** `run_end` failed without `error`. */
  missing_error: 64,
  /** A mark sent as `"value": null` with its value as a word in `value_nonfinite`; `extra` has both as they were sent. */
  nonfinite_word: 128,
} as const;
