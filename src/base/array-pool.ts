// Typed arrays that are used again. The memory of a typed array lies outside the heap, and the runtime answers to a few
// dozen megabytes of it with a collection of the whole heap: under load that was a third of the server's processor time
// and the longest of its pauses. So columns and blocks, which come and go by the hundred a second, take their memory
// here and give it back when they are drained.
//
// A taken array holds whatever its last user left in it. Whoever gives an array must not touch it any more.

type PooledArray = Uint8Array | Uint32Array | Int32Array | Float64Array;

/** Below this the runtime keeps arrays cheaply by itself; above the other, one odd message would fill the pool. */
const pooledBytesMin = 256;
const pooledBytesMax = 32 * 1024 * 1024;
/** What all pools together hold for later. */
const freeBytesMax = 64 * 1024 * 1024;

let freeBytes = 0;

export class ArrayPool<A extends PooledArray> {
  private readonly make: (length: number) => A;
  /** By the logarithm of their length. */
  private readonly free: A[][] = Array.from({ length: 32 }, () => []);

  constructor(make: (length: number) => A) {
    this.make = make;
  }

  /** An array of at least this length, a power of two. */
  take(length: number): A {
    const order = length <= 1 ? 0 : 32 - Math.clz32(length - 1);
    const known = this.free[order]?.pop();
    if (known === undefined) return this.make(2 ** order);
    freeBytes -= known.byteLength;
    return known;
  }

  empty(): void {
    for (const list of this.free) list.length = 0;
  }

  /** Arrays that did not come from here are left to the runtime. */
  give(array: A): void {
    const { length, byteLength } = array;
    const isPooled = byteLength >= pooledBytesMin && byteLength <= pooledBytesMax && (length & (length - 1)) === 0;
    if (!isPooled || array.buffer.byteLength !== byteLength || freeBytes + byteLength > freeBytesMax) return;
    freeBytes += byteLength;
    this.free[31 - Math.clz32(length)]?.push(array);
  }
}

/** Leaves everything that is held for later to the runtime. */
export function emptyPools(): void {
  for (const pool of [bytePool, wordPool, integerPool, doublePool]) pool.empty();
  freeBytes = 0;
}

export const bytePool: ArrayPool<Uint8Array> = new ArrayPool((length) => new Uint8Array(length));
export const wordPool: ArrayPool<Uint32Array> = new ArrayPool((length) => new Uint32Array(length));
export const integerPool: ArrayPool<Int32Array> = new ArrayPool((length) => new Int32Array(length));
export const doublePool: ArrayPool<Float64Array> = new ArrayPool((length) => new Float64Array(length));
