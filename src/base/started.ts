// An answer in pieces whose first piece is there: what fails before it can still be told, or tried again.

/** The same pieces, of which the first is there. */
export async function started<T>(pieces: AsyncIterable<T>): Promise<AsyncIterable<T>> {
  const rest = pieces[Symbol.asyncIterator]();
  const first = await rest.next();
  return (async function* () {
    try {
      for (let next = first; !next.done; next = await rest.next()) yield next.value;
    } finally {
      await rest.return?.();
    }
  })();
}
