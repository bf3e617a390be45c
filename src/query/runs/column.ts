// One param or metric of every run of a table, by the run's place: ten bytes a run. A plain number is stored as itself; any
// other value, mostly text, as an index into a list of distinct values.

import type { FieldRef } from "./field.ts";
import type { FieldValue } from "./match.ts";
import { NumberValue } from "./values.ts";

/** Fields whose values are read by name, apart from the run. */
export type CellField = Extract<FieldRef, { kind: "param" | "metric" }>;

const absent = 0;
const plain = 1;
const listed = 2;

const none: readonly FieldValue[] = [];

export class FieldColumn {
  readonly field: CellField;
  private kinds = new Uint8Array(0);
  private numbers = new Float64Array(0);
  /** 1 where a point of the metric is NaN or ±Infinity, whatever its phase. */
  private flags = new Uint8Array(0);
  private list: FieldValue[] = [];
  private codeOf = new Map<string, number>();
  /** Places whose value is not known; null when none is. */
  private stale: Set<number> | null = null;

  constructor(field: CellField) {
    this.field = field;
  }

  /** What this takes in memory, roughly. */
  get bytes(): number {
    return this.kinds.length * 10 + this.list.length * 160;
  }

  /** Places to read again, which count as known from now on; null for all of them. */
  takeStale(): ReadonlySet<number> | null {
    // Values that no run has any more stay in the list; when they are many, it is rebuilt.
    const taken = this.list.length > 2 * this.kinds.length + 1024 ? null : this.stale;
    this.stale = new Set();
    return taken;
  }

  markStale(places: Iterable<number> | null): void {
    if (places === null) this.stale = null;
    else if (this.stale !== null) for (const place of places) this.stale.add(place);
  }

  /** Forgets everything, and makes room for this many places. */
  clear(places: number): void {
    this.kinds = new Uint8Array(places);
    this.numbers = new Float64Array(places);
    this.flags = new Uint8Array(places);
    this.list = [];
    this.codeOf = new Map();
  }

  set(place: number, values: readonly FieldValue[], isFlagged: boolean): void {
    if (place >= this.kinds.length) this.grow(place + 1);
    const [value] = values;
    this.flags[place] = isFlagged ? 1 : 0;
    this.kinds[place] = value === undefined ? absent : value instanceof NumberValue ? plain : listed;
    if (value !== undefined) this.numbers[place] = value instanceof NumberValue ? value.num : this.codeFor(value);
  }

  valuesAt(place: number): readonly FieldValue[] {
    switch (this.kinds[place]) {
      case plain:
        return [new NumberValue(this.numbers[place] as number)];
      case listed:
        return [this.list[this.numbers[place] as number] as FieldValue];
      default:
        return none;
    }
  }

  isFlagged(place: number): boolean {
    return this.flags[place] === 1;
  }

  private codeFor(value: FieldValue): number {
    const key = `${value.num}\n${value.text}`;
    let code = this.codeOf.get(key);
    if (code === undefined) {
      code = this.list.length;
      this.list.push(value);
      this.codeOf.set(key, code);
    }
    return code;
  }

  private grow(length: number): void {
    const room = Math.max(length, this.kinds.length * 2, 64);
    const grown = { kinds: new Uint8Array(room), numbers: new Float64Array(room), flags: new Uint8Array(room) };
    grown.kinds.set(this.kinds);
    grown.numbers.set(this.numbers);
    grown.flags.set(this.flags);
    this.kinds = grown.kinds;
    this.numbers = grown.numbers;
    this.flags = grown.flags;
  }
}
