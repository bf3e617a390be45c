// The trace does not say what a run that never started would have run with. But a launch that crosses lists of values
// counts through them like an odometer: along one key the value changes every `stride` runs and repeats. When the runs
// that did start show such a wheel for every key, and the wheels together make up the whole plan, the contexts of the
// missing ones follow. Anything less would be a guess.

interface Placed {
  readonly index: number | null;
  readonly context: Readonly<Record<string, string>>;
}

/** The wheels of a larger plan are not looked for: a trace may name any number of runs. */
const plannedMax = 1_000_000;

/** Contexts by index, only for those that the started runs determine beyond doubt. */
export function inferContexts(
  started: readonly Placed[],
  missing: readonly number[],
  planned: number,
): Map<number, Record<string, string>> {
  const inferred = new Map<number, Record<string, string>>();
  if (planned > plannedMax) return inferred;
  const placed = started.filter((cell): cell is Placed & { index: number } => cell.index !== null);
  const keys = Object.keys(placed[0]?.context ?? {});
  const wheels: Wheel[] = [];
  for (const key of keys) {
    const wheel = findWheel(placed, key, planned);
    if (wheel === undefined) return inferred;
    wheels.push(wheel);
  }
  if (!isOdometer(wheels, planned)) return inferred;
  for (const index of missing) {
    const values = wheels.map((wheel) => valueAt(wheel, index));
    if (keys.length === 0 || values.includes(undefined)) continue;
    inferred.set(index, Object.fromEntries(keys.map((key, i) => [key, values[i] as string])));
  }
  return inferred;
}

/** The value of a key at an index is `values[floor(index / stride) mod values.length]`. */
interface Wheel {
  readonly stride: number;
  readonly values: readonly (string | undefined)[];
}

function valueAt({ stride, values }: Wheel, index: number): string | undefined {
  return values[Math.floor(index / stride) % values.length];
}

/** The fastest wheel moves at every run, each next one when those before it have come round, and all together once. Keys
 * that move together share a wheel. */
function isOdometer(wheels: readonly Wheel[], planned: number): boolean {
  const sizes = new Map<number, number>();
  for (const { stride, values } of wheels) {
    if (values.length === 1) continue;
    if ((sizes.get(stride) ?? values.length) !== values.length) return false;
    sizes.set(stride, values.length);
  }
  let turn = 1;
  for (const [stride, size] of [...sizes].sort(([a], [b]) => a - b)) {
    if (stride !== turn) return false;
    turn *= size;
  }
  return turn === planned;
}

/** The only wheel that fits all started runs, or undefined when none or several do. */
function findWheel(placed: readonly (Placed & { index: number })[], key: string, planned: number): Wheel | undefined {
  const distinct = new Set(placed.map(({ context }) => context[key]));
  const size = distinct.size;
  if (distinct.has(undefined)) return undefined;
  if (size === 1) return { stride: 1, values: [...distinct] };
  if (planned % size !== 0) return undefined;
  let found: Wheel | undefined;
  for (let stride = 1; stride * size <= planned; stride++) {
    if (planned % (stride * size) !== 0) continue;
    const wheel = fitWheel(placed, key, stride, size);
    if (wheel === undefined) continue;
    if (found !== undefined) return undefined;
    found = wheel;
  }
  return found;
}

function fitWheel(
  placed: readonly (Placed & { index: number })[],
  key: string,
  stride: number,
  size: number,
): Wheel | undefined {
  const values: (string | undefined)[] = Array(size).fill(undefined);
  for (const { index, context } of placed) {
    const at = Math.floor(index / stride) % size;
    values[at] ??= context[key];
    if (values[at] !== context[key]) return undefined;
  }
  return new Set(values).size === size ? { stride, values } : undefined;
}
