// A scope while it is open, and the row it becomes when it closes.
// Which scope is innermost is kept per async context (AsyncLocalStorage), so nesting survives `await`
// and concurrent requests do not see each other.

import { AsyncLocalStorage } from "node:async_hooks";
import type { MarkKind } from "#wire/cirron/encode.ts";
import { type Attributes, formatAttributes, joinAttributes } from "./attributes.ts";
import { spanIds } from "./ids.ts";

export type MarkValue = number | bigint | string | boolean;

export interface SpanOptions {
  /** Epoch number, batch number: whatever counts the scopes of one name. */
  readonly index?: number;
  readonly attrs?: Attributes;
}

/** What a span needs from the recorder that made it. */
export interface SpanOwner {
  mark(span: Span, name: string, value: MarkValue, attrs?: Attributes, kind?: MarkKind): void;
  close(span: Span): void;
}

const innermost = new AsyncLocalStorage<Span>();

export class Span {
  readonly counter: number = spanIds.next();
  readonly name: string;
  readonly parent: Span | null;
  readonly index: number | null;
  readonly startNs: number;
  endNs = 0;
  gpuNs: number | null = null;
  memoryPeakBytes: number | null = null;
  isOpen = true;
  attrsJson: string;
  /** Counters of this span's marks as pairs first, last: marks of a tight loop are one pair. */
  markRanges: number[] | null = null;
  markCount = 0;
  // Open spans are one linked list, so that closing at exit finds them and leaving costs nothing.
  before: Span | null = null;
  after: Span | null = null;
  private readonly owner: SpanOwner;

  constructor(owner: SpanOwner, name: string, parent: Span | null, startNs: number, options?: SpanOptions) {
    this.owner = owner;
    this.name = name;
    this.parent = parent;
    this.startNs = startNs;
    let index: number | undefined;
    let attrs: Attributes | undefined;
    try {
      index = options?.index;
      attrs = options?.attrs;
    } catch {
      // A getter of the user's object threw: what was read until then is kept.
    }
    this.index = typeof index === "number" && Number.isSafeInteger(index) ? index : null;
    this.attrsJson = formatAttributes(attrs);
  }

  /** 32 hex digits, as they stand in the trace. */
  get id(): string {
    return spanIds.format(this.counter);
  }

  mark(name: string, value: MarkValue, attrs?: Attributes, kind?: MarkKind): void {
    this.owner.mark(this, name, value, attrs, kind);
  }

  /** Adds attributes; a key given twice counts as last given. */
  set(attrs: Attributes): void {
    if (this.isOpen) this.attrsJson = joinAttributes(this.attrsJson, formatAttributes(attrs));
  }

  /** Time on an accelerator, when the program knows it. */
  setGpuNs(gpuNs: number): void {
    if (Number.isFinite(gpuNs)) this.gpuNs = Math.round(gpuNs);
  }

  /** Runs `fn` with this span as the innermost scope. */
  run<T>(fn: () => T): T {
    return innermost.run(this, fn);
  }

  end(): void {
    this.owner.close(this);
    leave(this);
  }

  [Symbol.dispose](): void {
    this.end();
  }
}

/** Makes `span` the innermost scope for the rest of this async context. */
export function enter(span: Span): void {
  innermost.enterWith(span);
}

export function runInside<T>(span: Span, fn: (span: Span) => T): T {
  return innermost.run(span, fn, span);
}

/** The innermost scope that is still open, if any. */
export function currentSpan(): Span | null {
  let span: Span | null = innermost.getStore() ?? null;
  while (span !== null && !span.isOpen) span = span.parent;
  return span;
}

function leave(span: Span): void {
  // Only the context that entered it leaves it: another one may have moved on meanwhile.
  if (innermost.getStore() === span) innermost.enterWith((span.parent ?? undefined) as Span);
}
