// Marks errors of the applier, which concern one record. Any other error is an outage of the journal, or a bug.

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

/** As `attempt`, for the rejection of a promise. */
export function toThrown(cause: unknown): never {
  throw new ApplyFailure(cause);
}

/** Rethrows any other error. */
export function toFailure(error: unknown): ApplyFailure {
  if (error instanceof ApplyFailure) return error;
  throw error;
}
