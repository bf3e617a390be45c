// Watches a function of the program and what it returns, be it a value or a promise of one.

/** `onValue` and `onError` are called once; the program gets what `onValue` returns, or the error. */
export function settle<T>(work: () => T, onValue: (value: unknown) => unknown, onError: (error: unknown) => void): T {
  const fail = (error: unknown): never => {
    onError(error);
    throw error;
  };
  let result: unknown;
  try {
    result = work();
  } catch (error) {
    return fail(error);
  }
  return (isThenable(result) ? Promise.resolve(result).then(onValue, fail) : onValue(result)) as T;
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}
