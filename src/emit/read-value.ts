// Any value of a user's program, read without ever throwing.
// Attributes, parameters and context values come from code we do not know: they may hold cycles,
// getters that throw, class instances or tensors. A value that JSON cannot say becomes a short
// description of itself, so that one odd attribute never costs the record it hangs on.

const depthMax = 32;
const itemsMax = 10_000;

/** What is made of the parts of a value. */
export interface Maker<T> {
  scalar(value: null | boolean | number | bigint | string): T;
  items(items: T[]): T;
  /** As many values as names. */
  fields(names: readonly string[], values: readonly T[]): T;
  /** An object that is taken as it is; undefined for all others. */
  known?(value: object): T | undefined;
}

/** Values are read at once: later changes of the object by its owner do not show. */
export function readValue<T>(value: unknown, maker: Maker<T>): T {
  try {
    return read(value, maker, 0, []) ?? maker.scalar(null);
  } catch {
    return maker.scalar("[unreadable]");
  }
}

/** The object's own enumerable fields; those without a JSON form (undefined) are left out. */
export function readFields<T>(value: object, maker: Maker<T>, depth = 0, path: object[] = []): T {
  const names: string[] = [];
  const values: T[] = [];
  let count = 0;
  for (const name of Object.keys(value)) {
    if (++count > itemsMax) break;
    let field: T | undefined;
    try {
      field = read((value as Record<string, unknown>)[name], maker, depth + 1, path);
    } catch {
      field = maker.scalar("[unreadable]");
    }
    if (field === undefined) continue;
    names.push(name);
    values.push(field);
  }
  return maker.fields(names, values);
}

function read<T>(value: unknown, maker: Maker<T>, depth: number, path: object[]): T | undefined {
  switch (typeof value) {
    case "string":
    case "number":
    case "boolean":
    case "bigint":
      return maker.scalar(value);
    case "undefined":
      return undefined;
    case "function":
      return maker.scalar(`[function ${value.name || "anonymous"}]`);
    case "symbol":
      return maker.scalar(value.toString());
    default:
      return value === null ? maker.scalar(null) : readReference(value as object, maker, depth, path);
  }
}

function readReference<T>(value: object, maker: Maker<T>, depth: number, path: object[]): T | undefined {
  const known = maker.known?.(value);
  if (known !== undefined) return known;
  if (path.includes(value)) return maker.scalar("[circular]");
  if (depth >= depthMax) return maker.scalar("[too deep]");
  path.push(value);
  try {
    if (Array.isArray(value)) return readItems(value, maker, depth, path);
    if (value instanceof DataView) return maker.scalar(`[DataView of ${value.byteLength} bytes]`);
    if (ArrayBuffer.isView(value)) return readItems(value as unknown as ArrayLike<unknown>, maker, depth, path);
    if (value instanceof Error) return maker.scalar(`${value.name}: ${value.message}`);
    if (value instanceof Map) return readFields(Object.fromEntries(value), maker, depth, path);
    if (value instanceof Set) return readItems([...value], maker, depth, path);
    const { toJSON } = value as { toJSON?: unknown };
    if (typeof toJSON === "function") return read(toJSON.call(value), maker, depth + 1, path);
    return readFields(value, maker, depth, path);
  } catch {
    return maker.scalar("[unreadable]");
  } finally {
    path.pop();
  }
}

function readItems<T>(items: ArrayLike<unknown>, maker: Maker<T>, depth: number, path: object[]): T {
  const count = Math.min(items.length, itemsMax);
  const made: T[] = [];
  for (let i = 0; i < count; i++) made.push(read(items[i], maker, depth + 1, path) ?? maker.scalar(null));
  if (items.length > count) made.push(maker.scalar(`[${items.length - count} more]`));
  return maker.items(made);
}
