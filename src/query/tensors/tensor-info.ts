// What a list of tensors says about each: kind, pair, how its norm moved, and what looks wrong with it.

import type { TensorHint, TensorInfo } from "#api/contract/snapshot.ts";

export interface TensorFacts {
  readonly tensor: string;
  /** In order of time; null where no norm was sent. */
  readonly norms: readonly (number | null)[];
  readonly hasNan: boolean;
  readonly lastMin: number | null;
  readonly lastMax: number | null;
}

const gradientSuffix = ".grad";
/** A norm that grew by this factor, or shrank by it, is worth a look. */
const growthFactor = 100;

export function kindOf(tensor: string, all: ReadonlySet<string>): TensorInfo["kind"] {
  if (tensor.endsWith(gradientSuffix)) return "gradient";
  return all.has(tensor + gradientSuffix) || /(weight|bias|kernel|embedding)$/i.test(tensor) ? "weight" : "other";
}

export function pairOf(tensor: string, all: ReadonlySet<string>): string | null {
  const other = tensor.endsWith(gradientSuffix) ? tensor.slice(0, -gradientSuffix.length) : tensor + gradientSuffix;
  return all.has(other) ? other : null;
}

export function changeOf(norms: readonly (number | null)[]): number | null {
  const known = norms.filter((norm) => norm !== null);
  const first = known[0];
  const last = known.at(-1);
  if (first === undefined || last === undefined || first === 0) return null;
  // A tensor that ended as NaN did not stay what it last was.
  if (!Number.isFinite(first) || !Number.isFinite(last)) return null;
  return Math.abs(last - first) / Math.abs(first);
}

export function hintsOf(facts: TensorFacts): TensorHint[] {
  const hints: TensorHint[] = [];
  if (facts.hasNan || facts.norms.some((norm) => norm !== null && !Number.isFinite(norm))) hints.push("nan");
  const finite = facts.norms.filter((norm) => norm !== null && Number.isFinite(norm)) as number[];
  const first = finite[0] ?? 0;
  const last = finite.at(-1);
  if (last === 0) hints.push("dead");
  else if (last !== undefined && finite.length > 1 && first > 0) {
    if (last > first * growthFactor) hints.push("exploding");
    else if (last * growthFactor < first) hints.push("vanishing");
  }
  const isConstant = facts.lastMin !== null && facts.lastMin === facts.lastMax && last !== 0;
  if (isConstant) hints.push("constant");
  return hints;
}

/** At most `limit` values, evenly picked, the first and last among them. */
export function thin<T>(values: readonly T[], limit: number): T[] {
  if (values.length <= limit) return [...values];
  return Array.from({ length: limit }, (_, at) => values[Math.round((at * (values.length - 1)) / (limit - 1))] as T);
}
