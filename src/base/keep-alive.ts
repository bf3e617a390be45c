// Node ends a process when nothing keeps it alive, and our pauses before a retry do not. A running server has its sockets; one
// that is starting has nothing yet.

/** Longer than any start, so the timer never fires. */
const farMs = 2 ** 30;

/** Keeps the process alive until the work is done. */
export async function keepAlive<T>(work: Promise<T>): Promise<T> {
  const timer = setInterval(() => undefined, farMs);
  try {
    return await work;
  } finally {
    clearInterval(timer);
  }
}
