// Serving functions: each call is a `request` scope. Token counts are read from answers that carry a
// `usage`, and streamed answers get the time to their first chunk and the pace of the others.

import { settle } from "#emit/settle.ts";
import type { Attributes } from "./attributes.ts";
import { nowNs } from "./clock.ts";
import type { Span } from "./span.ts";

export interface RequestOwner {
  openRequest(attrs: Attributes): Span;
  markInt(span: Span, name: string, value: number, attrs: Attributes, kind: "summary"): void;
}

export interface InferenceOptions {
  /** Further attributes of every request scope. */
  readonly attrs?: Attributes;
}

type AnyFunction<A extends unknown[], R> = (...args: A) => R;

export function wrapInference<A extends unknown[], R>(
  owner: RequestOwner,
  fn: AnyFunction<A, R>,
  attrs: Attributes,
): AnyFunction<A, R> {
  return function request(this: unknown, ...args: A): R {
    const span = owner.openRequest({ request_id: crypto.randomUUID().replaceAll("-", ""), ...attrs });
    return settle(
      () => span.run(() => fn.apply(this, args)),
      (value) => finish(owner, span, value),
      (error) => fail(span, error),
    );
  };
}

/** Notes why a scope ended early; the document has no field for it, so it is two attributes. */
export function fail(span: Span, error: unknown): void {
  const known = error instanceof Error;
  span.set({ "error.type": known ? error.name : typeof error, "error.message": known ? error.message : String(error) });
  span.end();
}

function finish(owner: RequestOwner, span: Span, value: unknown): unknown {
  if (isObject(value)) {
    if (isIterator(value, Symbol.asyncIterator)) return followStream(owner, span, value, Symbol.asyncIterator);
    if (isIterator(value, Symbol.iterator)) return followStream(owner, span, value, Symbol.iterator);
    markUsage(owner, span, value);
  }
  span.end();
  return value;
}

/** The same object, but iterating it is watched. */
function followStream(owner: RequestOwner, span: Span, stream: object, method: symbol): unknown {
  const pace = new Pace(owner, span);
  return new Proxy(stream, {
    get(target, key) {
      const value = Reflect.get(target, key, target);
      // A proxy must return such a value unchanged.
      if (isFixed(target, key)) return value;
      if (key === method) return () => pace.follow(value.call(target));
      if (key === "next" && typeof value === "function") return (...args: unknown[]) => pace.turn(value, target, args);
      if (key === "return" && typeof value === "function")
        return (...args: unknown[]) => {
          pace.end();
          return value.apply(target, args);
        };
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

interface AnyIterator {
  next(...args: unknown[]): unknown;
  return?(...args: unknown[]): unknown;
}

class Pace {
  private readonly owner: RequestOwner;
  private readonly span: Span;
  private chunks = 0;
  private lastNs: number;

  constructor(owner: RequestOwner, span: Span) {
    this.owner = owner;
    this.span = span;
    this.lastNs = span.startNs;
  }

  follow(source: AnyIterator): object {
    const end = () => this.end();
    return {
      next: (...args: unknown[]) => this.turn(source.next, source, args),
      return: (...args: unknown[]) => {
        end();
        return source.return?.apply(source, args) ?? { done: true, value: args[0] };
      },
      [Symbol.iterator]() {
        return this;
      },
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  }

  turn(next: (...args: unknown[]) => unknown, source: object, args: unknown[]): unknown {
    return settle(
      () => this.span.run(() => next.apply(source, args)),
      (item) => this.took(item),
      (error) => fail(this.span, error),
    );
  }

  end(): void {
    const { span } = this;
    if (!span.isOpen) return;
    const durationMs = (nowNs() - span.startNs) / 1e6;
    span.mark("request_duration_ms", durationMs, undefined, "summary");
    if (durationMs > 0) span.mark("tokens_per_second", (this.chunks * 1000) / durationMs, undefined, "summary");
    span.end();
  }

  private took(item: unknown): unknown {
    const { done, value } = (item ?? {}) as { done?: boolean; value?: unknown };
    const now = nowNs();
    if (isObject(value)) markUsage(this.owner, this.span, value);
    if (done) this.end();
    else if (this.chunks++ === 0)
      this.span.mark("time_to_first_token_ms", (now - this.span.startNs) / 1e6, undefined, "summary");
    else this.span.mark("chunk_ms", (now - this.lastNs) / 1e6, { index: this.chunks - 1 });
    this.lastNs = now;
    return item;
  }
}

/** Chat-completion names (prompt, completion) are kept, and each count also comes under one common name. */
function markUsage(owner: RequestOwner, span: Span, answer: object): void {
  try {
    const { usage } = answer as { usage?: Record<string, unknown> | null };
    if (!isObject(usage)) return;
    const source = "prompt_tokens" in usage ? "openai" : "usage";
    const input = toCount(usage["prompt_tokens"] ?? usage["input_tokens"]);
    const output = toCount(usage["completion_tokens"] ?? usage["output_tokens"]);
    const total = toCount(usage["total_tokens"]) ?? (input === undefined ? undefined : input + (output ?? 0));
    const put = (name: string, value: number | undefined, normalized: boolean) => {
      if (value !== undefined)
        owner.markInt(span, name, value, normalized ? { source, normalized } : { source }, "summary");
    };
    if (source === "openai") put("prompt_tokens", input, false);
    put("input_tokens", input, true);
    if (source === "openai") put("completion_tokens", output, false);
    put("output_tokens", output, true);
    put("total_tokens", total, true);
  } catch {
    // An answer whose fields throw is the caller's to handle.
  }
}

function toCount(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

/** Streams and generators that can be watched, but not arrays, maps or strings: those are answers, not streams. */
function isIterator(value: object, method: symbol): boolean {
  if (Array.isArray(value) || ArrayBuffer.isView(value) || value instanceof Map || value instanceof Set) return false;
  if (isFixed(value, method)) return false;
  return typeof (value as Record<symbol, unknown>)[method] === "function";
}

/** Whether an own property can never have another value, as in a frozen object. */
function isFixed(object: object, key: string | symbol): boolean {
  const own = Reflect.getOwnPropertyDescriptor(object, key);
  return own?.configurable === false && own.writable === false;
}
