// Runs work under one name one at a time, for work that reads something and writes it back.

export class OneByOne {
  private readonly last = new Map<string, Promise<void>>();

  /** Runs `work` when all earlier work under this name has ended, successfully or not. */
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
