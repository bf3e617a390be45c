// A plain value as JSON text, with pauses: an answer may list hundreds of thousands of items, or a few very large ones.

import { TextGatherer, type Texts } from "./texts.ts";

/** About how much is written at once. */
const pieceChars = 64 * 1024;
const firstItems = 16;
const itemsMax = 4096;

/** `format` writes small values at once, in its own style. */
export function* formatInSteps(value: unknown, format: (value: unknown) => string): Generator<void, Texts> {
  const writer = new StepWriter(format);
  yield* writer.write(value);
  return writer.texts.finish();
}

class StepWriter {
  readonly texts = new TextGatherer();
  private readonly format: (value: unknown) => string;

  constructor(format: (value: unknown) => string) {
    this.format = format;
  }

  *write(value: unknown): Generator<void, void> {
    if (Array.isArray(value) && value.length > firstItems) yield* this.writeList(value);
    else if (isPlainObject(value)) yield* this.writeObject(value);
    else this.texts.add(this.format(value));
  }

  private *writeObject(object: Readonly<Record<string, unknown>>): Generator<void, void> {
    let between = "{";
    let count = 0;
    for (const key of Object.keys(object)) {
      if (++count % itemsMax === 0) yield;
      const value = object[key];
      if (value === undefined) continue;
      this.texts.add(`${between}${JSON.stringify(key)}:`);
      between = ",";
      yield* this.write(value);
    }
    this.texts.add(between === "{" ? "{}" : "}");
  }

  /** Writes as many items at once as make about a piece, judged by the items before them. */
  private *writeList(items: readonly unknown[]): Generator<void, void> {
    let [at, count] = [0, firstItems];
    while (at < items.length) {
      if (at > 0) yield;
      const text = this.format(items.slice(at, at + count));
      this.texts.add(`${at === 0 ? "[" : ","}${text.slice(1, -1)}`);
      at += count;
      count = Math.min(itemsMax, Math.max(1, Math.floor((pieceChars * count) / text.length)));
    }
    this.texts.add("]");
  }
}

/** Not an instance of a class, which may have its own `toJSON`. */
function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return value !== null && typeof value === "object" && Object.getPrototypeOf(value) === Object.prototype;
}
