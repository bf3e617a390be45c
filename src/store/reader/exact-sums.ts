// Sums of 64-bit integers that may not fit 64 bits: a clock that was not set makes spans of decades, and a few of them are
// more than the engine's own sum can hold, which begins again below zero.

/** What does not fit is the greatest, or least, that does. Null when there is no value. */
export function sumNs(value: string): string {
  const sum = `sum(toInt128(${value}))`;
  const [least, most] = ["toInt64(-9223372036854775808)", "toInt64(9223372036854775807)"];
  return `multiIf(${sum} > ${most}, ${most}, ${sum} < ${least}, ${least}, toInt64(${sum}))`;
}
