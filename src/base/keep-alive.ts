// A process ends when nothing is left that it could wait for, and a pause before a store is asked again does not count: a
// server that is running has its sockets. One that is starting has none yet.

/** Longer than any start; it never comes to it. */
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
