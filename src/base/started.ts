// An answer in pieces whose first piece is there: if it fails before that, an error can still be sent, or the work repeated.

/** The same pieces, the first of which has been read already. */
export async function started<T>(pieces: AsyncIterable<T>): Promise<AsyncIterable<T>> {
  const rest = pieces[Symbol.asyncIterator]();
  let first: IteratorResult<T> | null = await rest.next();
  // Not a generator: one whose first piece was never asked for would not pass on that its reader is gone.
  const reader: AsyncIterator<T> = {
    async next() {
      const next = first ?? (await rest.next());
      first = null;
      return next;
    },
    async return(value?: unknown) {
      first = null;
      await rest.return?.();
      return { done: true, value };
    },
  };
  return { [Symbol.asyncIterator]: () => reader };
}
