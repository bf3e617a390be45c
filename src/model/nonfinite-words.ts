// The words that SDKs from 0.2.0 on use for numbers that strict JSON cannot write: a mark has `"value": null` and
// `"value_nonfinite": "nan"`, statistics have `"mean": null` and `"nonfinite": {"mean": "nan"}`.

export const nonfiniteWords: ReadonlyMap<string, number> = new Map([
  ["nan", Number.NaN],
  ["inf", Number.POSITIVE_INFINITY],
  ["-inf", Number.NEGATIVE_INFINITY],
]);
