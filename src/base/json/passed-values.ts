// What is known of long values that were looked through before, by their offsets. Passing a value of megabytes takes longer
// than others should wait, so `look-through.ts` passes it once, with pauses, and notes it here; every later reader of the same
// bytes then steps over it and needs no pauses itself.

export interface PassedValue {
  readonly end: number;
  /** Bits of `oddity` in it. */
  readonly oddities: number;
  /** There are blanks between its tokens. */
  readonly blanks: boolean;
  /** For a string: the flags of the cursor. */
  readonly escaped: boolean;
  readonly wide: boolean;
  readonly lone: boolean;
  /** Its strict form, where that is another text and was made already. */
  strict: Uint8Array | null;
}

export type PassedValues = Map<number, PassedValue>;

/** Smaller ones need no pause. */
export const longValueBytes: number = 64 * 1024;

const known = new WeakMap<Uint8Array, PassedValues>();

/** What is known of values in these bytes, null for nothing. */
export function passedIn(bytes: Uint8Array, start: number, end: number): PassedValues | null {
  return end - start < longValueBytes ? null : (known.get(bytes) ?? null);
}

/** For the scan of these bytes, which must not change afterwards. */
export function passedInto(bytes: Uint8Array): PassedValues {
  let values = known.get(bytes);
  if (values === undefined) {
    values = new Map();
    known.set(bytes, values);
  }
  return values;
}
