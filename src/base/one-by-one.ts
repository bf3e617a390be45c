// Work under a name, one after the other: what reads something and writes it back must not overlap with its like.

export class OneByOne {
  private readonly last = new Map<string, Promise<void>>();

  /** Runs `work` when everything that was asked for under this name before has ended, however it ended. */
  async run<T>(name: string, work: () => Promise<T>): Promise<T> {
    const before = this.last.get(name);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.last.set(name, promise);
    try {
      await before;
      return await work();
    } finally {
      resolve();
      if (this.last.get(name) === promise) this.last.delete(name);
    }
  }
}
