// Any value of a user's program, read without ever throwing.
// Attributes, parameters and context values come from code we do not know: they may hold cycles,
// getters that throw, class instances or tensors. A value that JSON cannot express becomes a short
// description of itself, so that one odd attribute never costs the record it belongs to.

const depthMax = 32;
const itemsMax = 10_000;
/**
 * How many parts of one value are read in all. Objects that refer to each other are read once for every path to them, and a
 * small graph can have more paths than a program could ever wait for.
 */
const partsMax = 100_000;

/** Builds a result from the parts of a value. */
export interface Maker<T> {
  scalar(value: null | boolean | number | bigint | string): T;
  items(items: T[]): T;
  /** As many values as names. */
  fields(names: readonly string[], values: readonly T[]): T;
  /** An object that is taken as it is; undefined for all others. */
  known?(value: object): T | undefined;
}

/** Reads the value now: what its owner changes later does not show. */
export function readValue<T>(value: unknown, maker: Maker<T>): T {
  try {
    return new ValueReader(maker).read(value) ?? maker.scalar(null);
  } catch {
    return maker.scalar("[unreadable]");
  }
}

/** The object's own enumerable fields; those without a JSON form (undefined) are left out. */
export function readFields<T>(value: object, maker: Maker<T>): T {
  return new ValueReader(maker).readFields(value);
}

class ValueReader<T> {
  private readonly maker: Maker<T>;
  /** The objects that are being read, the outermost first. */
  private readonly path: object[] = [];
  private parts = 0;

  constructor(maker: Maker<T>) {
    this.maker = maker;
  }

  read(value: unknown): T | undefined {
    const { maker } = this;
    this.parts++;
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
        return value === null ? maker.scalar(null) : this.readReference(value as object);
    }
  }

  readFields(value: object): T {
    const names: string[] = [];
    const values: T[] = [];
    for (const name of Object.keys(value).slice(0, itemsMax)) {
      let field: T | undefined;
      try {
        field = this.read((value as Record<string, unknown>)[name]);
      } catch {
        field = this.maker.scalar("[unreadable]");
      }
      if (field === undefined) continue;
      names.push(name);
      values.push(field);
      if (this.isFull) break;
    }
    return this.maker.fields(names, values);
  }

  private get isFull(): boolean {
    return this.parts >= partsMax;
  }

  private readReference(value: object): T | undefined {
    const { maker, path } = this;
    const known = maker.known?.(value);
    if (known !== undefined) return known;
    if (path.includes(value)) return maker.scalar("[circular]");
    if (path.length >= depthMax) return maker.scalar("[too deep]");
    path.push(value);
    try {
      if (Array.isArray(value)) return this.readItems(value);
      if (value instanceof DataView) return maker.scalar(`[DataView of ${value.byteLength} bytes]`);
      if (ArrayBuffer.isView(value)) return this.readItems(value as unknown as ArrayLike<unknown>);
      if (value instanceof Error) return maker.scalar(`${value.name}: ${value.message}`);
      if (value instanceof Map) return this.readFields(Object.fromEntries(value));
      if (value instanceof Set) return this.readItems([...value]);
      const { toJSON } = value as { toJSON?: unknown };
      return typeof toJSON === "function" ? this.read(toJSON.call(value)) : this.readFields(value);
    } catch {
      return maker.scalar("[unreadable]");
    } finally {
      path.pop();
    }
  }

  private readItems(items: ArrayLike<unknown>): T {
    const { maker } = this;
    const count = Math.min(items.length, itemsMax);
    const made: T[] = [];
    for (let i = 0; i < count && !this.isFull; i++) made.push(this.read(items[i]) ?? maker.scalar(null));
    if (items.length > made.length) made.push(maker.scalar(`[${items.length - made.length} more]`));
    return maker.items(made);
  }
}
