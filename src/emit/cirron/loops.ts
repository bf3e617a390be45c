// Loop wrappers: they yield what they are given and open a scope around each turn.
// A scope opens before its item is fetched, because in a `for await` loop only what happens before
// the first `await` of next() reaches the loop's own async context. When there was no further item the
// scope never existed.

import { nowNs } from "./clock.ts";
import { currentSpan, enter, type Span } from "./span.ts";

interface LoopOwner {
  readonly session: Span | null;
  open(name: string, parent: Span | null, options: { index: number }): Span;
  discard(span: Span): void;
}

export interface LoopOptions {
  /** The first index. Default 0. */
  readonly from?: number;
}

interface LoopShape {
  readonly name: string;
  readonly owner: LoopOwner;
  readonly from: number;
  /** Whether fetching the item is a `data_load` scope of its own. */
  readonly hasDataLoad: boolean;
  readonly onEnd: (span: Span) => void;
}

/** Opens, fetches, closes; shared by the synchronous and the asynchronous iterators. */
class Turns {
  private readonly shape: LoopShape;
  private readonly parent: Span | null;
  private index: number;
  private span: Span | null = null;
  private dataLoad: Span | null = null;

  constructor(shape: LoopShape) {
    this.shape = shape;
    this.index = shape.from;
    const around = currentSpan() ?? shape.owner.session;
    this.parent = shape.name === "epoch" ? outsideEpochs(around) : around;
  }

  begin(): void {
    this.finish();
    const { owner, name, hasDataLoad } = this.shape;
    const span = owner.open(name, this.parent, { index: this.index });
    this.span = span;
    enter(span);
    if (hasDataLoad) this.dataLoad = owner.open("data_load", span, { index: this.index });
  }

  /** Takes what the source returned for the turn. */
  took<T>(item: IteratorResult<T>): IteratorResult<T> {
    if (item.done) this.abandon();
    else this.fetched();
    return item;
  }

  failed(error: unknown): never {
    this.abandon();
    throw error;
  }

  private fetched(): void {
    this.index++;
    const { dataLoad } = this;
    if (dataLoad === null) return;
    this.dataLoad = null;
    this.span?.set({ data_load_ns: Math.round(nowNs() - dataLoad.startNs) });
    dataLoad.end();
  }

  /** The source has nothing more: the turn that was prepared is dropped. */
  private abandon(): void {
    const { owner } = this.shape;
    if (this.dataLoad !== null) owner.discard(this.dataLoad);
    if (this.span !== null) owner.discard(this.span);
    this.dataLoad = null;
    this.span = null;
    if (this.parent !== null) enter(this.parent);
  }

  finish(): void {
    const { span } = this;
    if (span === null) return;
    this.span = null;
    if (span.isOpen) this.shape.onEnd(span);
    span.end();
  }
}

export function iterate<T>(items: Iterable<T>, shape: LoopShape): Iterable<T> {
  return {
    [Symbol.iterator](): Iterator<T> {
      const source = items[Symbol.iterator]();
      const turns = new Turns(shape);
      return {
        next() {
          turns.begin();
          try {
            return turns.took(source.next());
          } catch (error) {
            return turns.failed(error);
          }
        },
        return(value?: unknown) {
          turns.finish();
          return source.return?.(value) ?? { done: true, value: value as T };
        },
      };
    },
  };
}

export function iterateAsync<T>(items: AsyncIterable<T>, shape: LoopShape): AsyncIterable<T> {
  return {
    [Symbol.asyncIterator](): AsyncIterator<T> {
      const source = items[Symbol.asyncIterator]();
      const turns = new Turns(shape);
      return {
        next() {
          turns.begin();
          return source.next().then(
            (item) => turns.took(item),
            (error: unknown) => turns.failed(error),
          );
        },
        async return(value?: unknown) {
          turns.finish();
          return (await source.return?.(value)) ?? { done: true, value: value as T };
        },
      };
    },
  };
}

/** 0, 1, … n − 1. */
export function* upTo(count: number): Generator<number> {
  for (let i = 0; i < count; i++) yield i;
}

/** Epochs are siblings: one that starts inside another gets the same parent. */
function outsideEpochs(span: Span | null): Span | null {
  let parent = span;
  for (let at = span; at !== null; at = at.parent) if (at.name === "epoch") parent = at.parent;
  return parent;
}
