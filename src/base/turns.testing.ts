// Shared by tests of work that is done in steps.

/** Does all of it, and counts the pauses that others would have had. */
export function countPauses<T>(steps: Generator<unknown, T>): { value: T; pauses: number } {
  for (let pauses = 0; ; pauses++) {
    const step = steps.next();
    if (step.done === true) return { value: step.value, pauses };
  }
}
