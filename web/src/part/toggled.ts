// What a tick changes: the value is added, or taken out where it was there.

export function toggled<T>(before: ReadonlySet<T>, value: T): ReadonlySet<T>;
export function toggled<T>(before: readonly T[], value: T): T[];
export function toggled<T>(before: readonly T[] | ReadonlySet<T>, value: T): readonly T[] | ReadonlySet<T> {
  const next = new Set(before);
  if (!next.delete(value)) next.add(value);
  return Array.isArray(before) ? [...next] : next;
}
