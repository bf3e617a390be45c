// The first step at which two series differ beyond noise. Noise is the median distance between neighbouring points of the
// reference, so that a single spike does not count as noise.

export interface SteppedPoint {
  readonly x: bigint;
  readonly t: number;
  readonly value: number;
}

export interface Divergence {
  readonly at: SteppedPoint;
  readonly reference: number;
}

const noiseFactor = 6;
/** So many points in a row must lie outside, or all up to the end. */
const persistence = 3;

export function shareStep(reference: readonly SteppedPoint[], other: readonly SteppedPoint[]): boolean {
  const steps = new Set(reference.map((point) => point.x));
  return other.some((point) => steps.has(point.x));
}

export function findDivergence(reference: readonly SteppedPoint[], other: readonly SteppedPoint[]): Divergence | null {
  const byStep = new Map(reference.map((point) => [point.x, point.value]));
  const shared = other.filter((point) => byStep.has(point.x));
  if (shared.length === 0) return null;
  const limit = noiseOf(reference) * noiseFactor;
  let run = 0;
  for (const [at, point] of shared.entries()) {
    run = isApart(byStep.get(point.x) as number, point.value, limit) ? run + 1 : 0;
    const isLast = at === shared.length - 1;
    if (run >= persistence || (run > 0 && isLast)) {
      const first = shared[at - run + 1] as SteppedPoint;
      return { at: first, reference: byStep.get(first.x) as number };
    }
  }
  return null;
}

/** A value that is not finite differs from every one that is. */
function isApart(reference: number, value: number, limit: number): boolean {
  if (Object.is(reference, value)) return false;
  if (!Number.isFinite(reference) || !Number.isFinite(value)) return true;
  const scale = Math.max(Math.abs(reference), Math.abs(value)) * 1e-9;
  return Math.abs(reference - value) > Math.max(limit, scale);
}

function noiseOf(points: readonly SteppedPoint[]): number {
  const moves: number[] = [];
  for (let at = 1; at < points.length; at++) {
    const move = Math.abs((points[at] as SteppedPoint).value - (points[at - 1] as SteppedPoint).value);
    if (Number.isFinite(move)) moves.push(move);
  }
  if (moves.length === 0) return 0;
  moves.sort((a, b) => a - b);
  return moves[Math.floor(moves.length / 2)] as number;
}
