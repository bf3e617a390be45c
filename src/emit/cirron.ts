// Cirron tracing for Node programs: scopes, marks, tensor snapshots.
// Nothing here throws into the program, keeps it alive, or waits for a network.

import type { MarkKind } from "#wire/cirron/encode.ts";
import type { Attributes } from "./cirron/attributes.ts";
import { fail, type InferenceOptions, wrapInference } from "./cirron/inference.ts";
import { iterate, iterateAsync, type LoopOptions, upTo } from "./cirron/loops.ts";
import { type Health, Profiler } from "./cirron/profiler.ts";
import type { ProfileOptions } from "./cirron/settings.ts";
import type { Model, Parameter, TensorKind } from "./cirron/snapshots.ts";
import { currentSpan, enter, type MarkValue, runInside, type Span, type SpanOptions } from "./cirron/span.ts";
import type { Tensor, TensorData, TensorLike } from "./cirron/tensor.ts";
import { copyOf, readOptions, toNumberOption } from "./read-options.ts";
import { settle } from "./settle.ts";

export type {
  Attributes,
  Health,
  InferenceOptions,
  LoopOptions,
  MarkKind,
  MarkValue,
  Model,
  Parameter,
  ProfileOptions,
  Span,
  SpanOptions,
  Tensor,
  TensorData,
  TensorKind,
  TensorLike,
};

/** What `profile()` returns; most programs ignore it. `await using` ends the session. */
export interface ProfileHandle {
  shutdown(options?: ShutdownOptions): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface ShutdownOptions {
  /** How long to wait for the server to take the rest. What it does not take stays in the spool. */
  readonly timeoutMs?: number;
}

/** A timer with a longer time would fire at once. */
const timerMsMax = 2 ** 30;
const profiler = new Profiler();
const { recorder } = profiler;
const handle: ProfileHandle = { shutdown, [Symbol.asyncDispose]: () => shutdown() };

/** Starts tracing this process. A second call does nothing until `shutdown()`. */
export function profile(options?: ProfileOptions): ProfileHandle {
  profiler.start(readOptions(options));
  return handle;
}

/** Ends the session, writes everything to the spool and, with a server, waits for it to be sent. */
export function shutdown(options?: ShutdownOptions): Promise<void> {
  return profiler.stop(Math.min(timerMsMax, toNumberOption(readOptions(options).timeoutMs) ?? 5000));
}

/** Writes what was recorded so far to the spool now. */
export function flush(): void {
  recorder.flush();
}

/** Counters of this process: records, batches, drops, and the SDK's own cost. */
export function health(): Health {
  return profiler.health;
}

/** Runs `fn` inside a new scope. The scope ends when `fn` returns or its promise settles. */
export function scope<T>(name: string, fn: (span: Span) => T, options?: SpanOptions): T {
  const span = recorder.open(name, currentSpan() ?? recorder.session, options);
  const close = (value: unknown) => {
    recorder.close(span);
    return value;
  };
  return settle(
    () => runInside(span, fn),
    close,
    (error) => fail(span, error),
  );
}

/**
 * Opens a scope for the rest of the block: `using step = span("step")`. For code that runs one thing
 * after the other; work that runs concurrently is kept apart by `scope(name, fn)`.
 */
export function span(name: string, options?: SpanOptions): Span {
  const opened = recorder.open(name, currentSpan() ?? recorder.session, options);
  enter(opened);
  return opened;
}

/** Attaches a value to the innermost open scope. A number is a float, a bigint an int. */
export function mark(name: string, value: MarkValue, attrs?: Attributes, kind?: MarkKind): void {
  recorder.mark(null, name, value, attrs, kind);
}

/** Like `mark`, for counts: a whole number becomes an int. */
export function markInt(name: string, value: number | bigint, attrs?: Attributes, kind?: MarkKind): void {
  recorder.markInt(null, name, value, attrs, kind);
}

/** Records tensors on the innermost open scope, in the mode `profile()` was given. */
export function snapshot(tensors: Readonly<Record<string, TensorLike>>, kind: TensorKind = "weights"): void {
  const target = currentSpan() ?? recorder.session;
  const { snapshots } = profiler;
  if (target === null || snapshots === null) return;
  try {
    snapshots.capture(target, kind, Object.entries(tensors), snapshots.rolls());
  } catch {
    // Tensors that cannot be read are left out.
  }
}

/** Records the model's weights and gradients at the end of every epoch of `epochs()`. */
export function watch(model: Model): void {
  profiler.watched.push(model);
}

/** Yields the items (or 0 … n − 1), each inside an `epoch` scope. */
export function epochs<T>(items: Iterable<T>, options?: LoopOptions): Iterable<T>;
export function epochs(count: number, options?: LoopOptions): Iterable<number>;
export function epochs(items: Iterable<unknown> | number, options?: LoopOptions): Iterable<unknown> {
  return iterate(toItems(items), {
    ...loop("epoch", options),
    onEnd: (ended) => profiler.captureWatched(ended),
  });
}

/** Yields the items (or 0 … n − 1), each inside a `step` scope. */
export function steps<T>(items: Iterable<T>, options?: LoopOptions): Iterable<T>;
export function steps(count: number, options?: LoopOptions): Iterable<number>;
export function steps(items: Iterable<unknown> | number, options?: LoopOptions): Iterable<unknown> {
  return iterate(toItems(items), loop("step", options));
}

/** Yields the batches, each inside a `step` scope whose first child, `data_load`, is the wait for the batch. */
export function batches<T>(items: AsyncIterable<T>, options?: LoopOptions): AsyncIterable<T>;
export function batches<T>(items: Iterable<T>, options?: LoopOptions): Iterable<T>;
export function batches<T>(items: Iterable<T> | AsyncIterable<T>, options?: LoopOptions): unknown {
  const shape = { ...loop("step", options), hasDataLoad: true };
  // A text has items too, and no member may be looked for in it.
  const isAsync = typeof items === "object" && items !== null && Symbol.asyncIterator in items;
  return isAsync ? iterateAsync(items as AsyncIterable<T>, shape) : iterate(items as Iterable<T>, shape);
}

/** Wraps a serving function: every call becomes a `request` scope, with token marks when the answer has them. */
export function inference<A extends unknown[], R>(
  fn: (...args: A) => R,
  options?: InferenceOptions,
): (...args: A) => R {
  return wrapInference(requests, fn, copyOf(readOptions(options).attrs));
}

const requests = {
  openRequest: (attrs: Attributes) => recorder.open("request", recorder.session, { attrs }),
  markInt: recorder.markInt.bind(recorder),
};

function loop(name: string, options: LoopOptions | undefined) {
  return {
    name,
    owner: recorder,
    from: toNumberOption(readOptions(options).from) ?? 0,
    hasDataLoad: false,
    onEnd: () => undefined,
  };
}

function toItems(items: Iterable<unknown> | number): Iterable<unknown> {
  return typeof items === "number" ? upTo(items) : items;
}
