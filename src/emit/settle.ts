// Watches a function of the program and its result, which may be a promise.

import { attempt } from "./read-options.ts";

/**
 * `onValue` or `onError` is called once; the program gets what `onValue` returns, or the error. If they throw, the program
 * does not notice.
 */
export function settle<T>(work: () => T, onValue: (value: unknown) => unknown, onError: (error: unknown) => void): T {
  const fail = (error: unknown): never => {
    attempt(() => onError(error));
    throw error;
  };
  const finish = (value: unknown): unknown => {
    let finished = value;
    attempt(() => {
      finished = onValue(value);
    });
    return finished;
  };
  let result: unknown;
  try {
    result = work();
  } catch (error) {
    return fail(error);
  }
  return (isThenable(result) ? Promise.resolve(result).then(finish, fail) : finish(result)) as T;
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  let isOne = false;
  attempt(() => {
    isOne = typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
  });
  return isOne;
}
