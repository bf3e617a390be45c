// The cache behind all answers, within one budget of bytes: the least recently used entry goes first. Its owner has to
// check that an entry still matches the store (see decision 007).

interface Entry {
  readonly value: unknown;
  readonly bytes: number;
  readonly onGone: () => void;
}

export const keptBytesUsual: number = 512 * 1024 * 1024;

export class Kept {
  private readonly bytesMax: number;
  /** Ordered by last use. */
  private readonly entries = new Map<string, Entry>();
  private bytes = 0;

  constructor(bytesMax: number = keptBytesUsual) {
    this.bytesMax = bytesMax;
  }

  /** The part of the cache for one kind of entry. */
  shelf<T>(name: string): KeptShelf<T> {
    return {
      get: (key) => this.get(`${name}\n${key}`) as T | undefined,
      set: (key, value, bytes, onGone = () => {}) => this.set(`${name}\n${key}`, { value, bytes, onGone }),
      delete: (key) => this.delete(`${name}\n${key}`),
    };
  }

  private get(key: string): unknown {
    const entry = this.entries.get(key);
    if (entry === undefined) return undefined;
    this.entries.delete(key);
    this.entries.set(key, entry);
    return entry.value;
  }

  private set(key: string, entry: Entry): void {
    this.bytes += entry.bytes - (this.entries.get(key)?.bytes ?? 0);
    this.entries.delete(key);
    this.entries.set(key, entry);
    for (const [oldest, { onGone }] of this.entries) {
      if (this.bytes <= this.bytesMax || oldest === key) return;
      this.delete(oldest);
      onGone();
    }
  }

  private delete(key: string): void {
    this.bytes -= this.entries.get(key)?.bytes ?? 0;
    this.entries.delete(key);
  }
}

export interface KeptShelf<T> {
  get(key: string): T | undefined;
  /** The entry set last stays, however large it is. `onGone` is called when an entry has to make room. */
  set(key: string, value: T, bytes: number, onGone?: () => void): void;
  delete(key: string): void;
}
