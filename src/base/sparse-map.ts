// A map that is usually empty and costs nothing until something is put into it. A plain Map has a table from the beginning, and
// the memory of ten thousand runs would have a dozen of them each.

const nothing = new Map();

export class SparseMap<K, V> {
  private entries: Map<K, V> | undefined;

  get size(): number {
    return this.entries?.size ?? 0;
  }

  get(key: K): V | undefined {
    return this.entries?.get(key);
  }

  has(key: K): boolean {
    return this.entries?.has(key) ?? false;
  }

  set(key: K, value: V): void {
    this.entries ??= new Map();
    this.entries.set(key, value);
  }

  delete(key: K): void {
    this.entries?.delete(key);
  }

  values(): MapIterator<V> {
    return (this.entries ?? nothing).values();
  }

  [Symbol.iterator](): MapIterator<[K, V]> {
    return (this.entries ?? nothing)[Symbol.iterator]();
  }
}
