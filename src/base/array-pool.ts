// A pool of typed arrays. Their memory is outside the heap, and after a few dozen megabytes of it the runtime collects the
// whole heap, which under load costs much processor time and long pauses. So columns and blocks, hundreds of which come
// and go each second, take their memory here and return it when they are drained.
//
// All but the smallest have pages of their own instead of memory of the C library: there, one small block that stays in use
// keeps the freed megabytes before it from ever going back to the system. The pages are of the kind that threads can share,
// though no thread shares them: the runtime does not count such memory, so waiting rows do not make it collect.
//
// A taken array holds whatever its last user left in it. Whoever returns an array must not touch it any more.

type PooledArray = Uint8Array | Uint32Array | Int32Array | Float64Array;

interface ArrayType<A extends PooledArray> {
  readonly BYTES_PER_ELEMENT: number;
  new (length: number): A;
  new (buffer: ArrayBufferLike, byteOffset: number, length: number): A;
}

/** The runtime handles smaller arrays cheaply itself, and larger ones would let one odd message fill the pool. */
const pooledBytesMin = 256;
const pooledBytesMax = 32 * 1024 * 1024;
/** How much all pools together keep for reuse. */
const freeBytesMax = 256 * 1024 * 1024;
/** Smaller arrays are not worth a place among pages. */
const pagedBytesMin = 4 * 1024;
/** Small arrays of one size share a slab. */
const slabBytes = 128 * 1024;
const pageBytes = 64 * 1024;

interface Pages {
  new (size: {
    readonly initial: number;
    readonly maximum: number;
    readonly shared: boolean;
  }): {
    readonly buffer: ArrayBufferLike;
  };
}
// The type definitions have it only for browsers.
const { Memory } = (globalThis as unknown as { readonly WebAssembly: { readonly Memory: Pages } }).WebAssembly;

let pagedBuffersMax = 4096;
let pagedBuffers = 0;
/** Dropped buffers count until they are collected. Beyond this, ordinary pages are used, so that the runtime does collect. */
const sharedBytesMax = 512 * 1024 * 1024;
let sharedBytes = 0;
const collected = new FinalizationRegistry<number>((shared) => {
  pagedBuffers--;
  sharedBytes -= shared;
});

let freeBytes = 0;

export class ArrayPool<A extends PooledArray> {
  private readonly type: ArrayType<A>;
  /** By the logarithm of their length. */
  private readonly free: A[][] = Array.from({ length: 32 }, () => []);
  /** How many of each were never needed since unused ones were let go of last: those that lie deepest. */
  private readonly unused: number[] = Array.from({ length: 32 }, () => 0);

  constructor(type: ArrayType<A>) {
    this.type = type;
  }

  /** An array of at least this length, a power of two. */
  take(length: number): A {
    const order = length <= 1 ? 0 : 32 - Math.clz32(length - 1);
    const free = this.free[order] as A[];
    if (free.length === 0) this.make(2 ** order, free);
    const array = free.pop() as A;
    freeBytes -= array.byteLength;
    if (free.length < (this.unused[order] as number)) this.unused[order] = free.length;
    return array;
  }

  empty(): void {
    for (const list of this.free) list.length = 0;
    this.unused.fill(0);
  }

  letGoUnused(): void {
    for (const [order, list] of this.free.entries()) {
      for (const { byteLength } of list.splice(0, this.unused[order])) freeBytes -= byteLength;
      this.unused[order] = list.length;
    }
  }

  /** Arrays that did not come from here are left to the runtime. */
  give(array: A): void {
    const { length, byteLength } = array;
    const isPooled = byteLength >= pooledBytesMin && byteLength <= pooledBytesMax && (length & (length - 1)) === 0;
    if (!isPooled || !isWhole(array) || freeBytes + byteLength > freeBytesMax) return;
    freeBytes += byteLength;
    this.free[31 - Math.clz32(length)]?.push(array);
  }

  /** Makes one array, or a slab of them. */
  private make(length: number, free: A[]): void {
    const bytes = length * this.type.BYTES_PER_ELEMENT;
    if (bytes < pagedBytesMin) {
      free.push(new this.type(length));
      freeBytes += bytes;
      return;
    }
    const buffer = takePages(Math.max(bytes, slabBytes));
    if (bytes < slabBytes) sharedBy.set(buffer, bytes);
    for (let at = 0; at < buffer.byteLength; at += bytes) free.push(new this.type(buffer, at, length));
    freeBytes += buffer.byteLength;
  }
}

/** The size of the arrays in a slab, by its buffer. */
const sharedBy = new WeakMap<ArrayBufferLike, number>();

/** A view of part of an array must not be reused: the rest of the array may be in use. */
function isWhole({ buffer, byteLength }: PooledArray): boolean {
  return byteLength === buffer.byteLength || byteLength === sharedBy.get(buffer);
}

/**
 * WebAssembly memory is the only kind of buffer that consists of pages, which go back to the system when it is collected.
 * Each reserves gigabytes of address space and a few of a process's mappings, so their number is limited; where address
 * space is limited there are none.
 */
function takePages(bytes: number): ArrayBufferLike {
  const pages = Math.ceil(bytes / pageBytes);
  if (pagedBuffers >= pagedBuffersMax) return new ArrayBuffer(pages * pageBytes);
  try {
    const shared = sharedBytes + pages * pageBytes <= sharedBytesMax;
    const { buffer } = new Memory({ initial: pages, maximum: pages, shared });
    pagedBuffers++;
    const uncounted = shared ? buffer.byteLength : 0;
    sharedBytes += uncounted;
    collected.register(buffer, uncounted);
    return buffer;
  } catch {
    pagedBuffersMax = 0;
    return new ArrayBuffer(pages * pageBytes);
  }
}

/** Drops everything that is kept for reuse. */
export function emptyPools(): void {
  for (const pool of pools) pool.empty();
  freeBytes = 0;
}

/**
 * Drops what nobody has needed since this was called last, but nothing that will be needed again soon: what is dropped stays in
 * memory until the heap has been looked through, and what is taken meanwhile comes on top of it.
 */
export function letGoUnused(): void {
  for (const pool of pools) pool.letGoUnused();
}

export const bytePool: ArrayPool<Uint8Array> = new ArrayPool(Uint8Array);
export const wordPool: ArrayPool<Uint32Array> = new ArrayPool(Uint32Array);
export const integerPool: ArrayPool<Int32Array> = new ArrayPool(Int32Array);
export const doublePool: ArrayPool<Float64Array> = new ArrayPool(Float64Array);
const pools = [bytePool, wordPool, integerPool, doublePool];
