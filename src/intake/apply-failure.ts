// The applier failed at a record. Whatever else goes wrong beside it is the journal's trouble, or a bug.

class ApplyFailure extends Error {
  override readonly name = "ApplyFailure";

  constructor(cause: unknown) {
    super("A record could not be applied.", { cause });
  }
}

export function attempt<T>(work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw new ApplyFailure(cause);
  }
}

/** For what is still going on. */
export function toThrown(cause: unknown): never {
  throw new ApplyFailure(cause);
}

/** Rethrows any other error. */
export function toFailure(error: unknown): ApplyFailure {
  if (error instanceof ApplyFailure) return error;
  throw error;
}
