// Merges the dictionaries of many blocks into one list of texts.

export class Interner {
  readonly texts: string[] = [];
  private readonly codes = new Map<string, number>();

  intern(text: string): number {
    const known = this.codes.get(text);
    if (known !== undefined) return known;
    this.codes.set(text, this.texts.length);
    return this.texts.push(text) - 1;
  }

  /** Writes this list's codes of a column, from `at` on. Keys that no row has are left out. */
  copy(column: { readonly keys: readonly string[]; readonly codes: Uint32Array }, into: Uint32Array, at: number): void {
    const { keys, codes } = column;
    const mapped = new Int32Array(keys.length).fill(-1);
    for (let row = 0; row < codes.length; row++) {
      const code = codes[row] as number;
      if (mapped[code] === -1) mapped[code] = this.intern(keys[code] as string);
      into[at + row] = mapped[code] as number;
    }
  }
}
