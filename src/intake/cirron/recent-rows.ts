// Which Cirron rows are known, as far as memory tells. Rows that came lately are known exactly: their ids, their content
// and what they belong to. They are kept in two generations; when the younger is full the elder is let go whole, and
// only a filter of its ids stays for a while. What is older than that is known by the hours in which its rows begin.
//
// A copy of a row begins when the row began. So an id that memory does not have is new, and costs no question, unless a
// filter over its hour knows it or its hour lies in what only the store can tell.

import { Bloom } from "#base/bloom.ts";
import { IdMap, idWords } from "#intake/id-map.ts";
import { idSalts } from "#model/id-salts.ts";
import { keyHigh, keyLow } from "./row-ids.ts";

/** Rows of one kind have ids of their own: the same text may name a span and a mark. */
export type RowKind = keyof typeof idSalts;

/** Makes the id in `idWords` that of a row of this kind. */
export function saltId(kind: RowKind): void {
  // The second word is part of the stored key.
  idWords[1] = ((idWords[1] as number) ^ idSalts[kind]) >>> 0;
}

export interface RecentLimits {
  /** Rows of a generation; two of them are kept. */
  readonly generationRows: number;
  /** How many filters of generations that were let go are kept. */
  readonly filtersMax: number;
}

export const defaultRecentLimits: RecentLimits = { generationRows: 1 << 19, filtersMax: 24 };

interface Sealed {
  readonly bloom: Bloom;
  readonly hours: ReadonlySet<number>;
}

/** What stands in a row's `flags`. */
const arrivedFlag = 1;

class Generation {
  readonly ids = new IdMap();
  readonly bloom: Bloom;
  readonly hours = new Set<number>();
  readonly number: number;
  /** The last journal record that added to it. */
  position = 0;
  owners = new Uint32Array(256);
  hashes = new Uint32Array(256);
  leads = new Uint32Array(256);
  flags = new Uint8Array(256);
  count = 0;

  constructor(number: number, capacity: number) {
    this.number = number;
    this.bloom = new Bloom(capacity);
  }

  grow(): void {
    const size = this.owners.length * 2;
    this.owners = copyInto(new Uint32Array(size), this.owners);
    this.hashes = copyInto(new Uint32Array(size), this.hashes);
    this.leads = copyInto(new Uint32Array(size), this.leads);
    this.flags = copyInto(new Uint8Array(size), this.flags);
  }
}

export class RecentRows {
  private readonly limits: RecentLimits;
  private current: Generation;
  private previous: Generation;
  private sealed: Sealed[] = [];
  /** The hours of rows that only the store can tell of; null when every hour may be one. */
  private storedHours: Set<number> | null;
  private lastHour = Number.NaN;

  /** `hours` null: the store may hold anything. */
  constructor(hours: ReadonlySet<number> | null, limits: RecentLimits = defaultRecentLimits) {
    this.limits = limits;
    this.storedHours = hours === null ? null : new Set(hours);
    this.previous = new Generation(0, 1);
    this.current = new Generation(1, limits.generationRows);
  }

  /** The generation that rows are added to now. */
  get generation(): number {
    return this.current.number;
  }

  /** Nothing but memory has to be asked. */
  get isWhole(): boolean {
    return this.sealed.length === 0 && this.storedHours?.size === 0;
  }

  /** The hours that stored rows begin in, and a filter for those of them that rows are likely to come in: read at start. */
  warm(hours: ReadonlySet<number>, recent: Sealed | null): void {
    this.storedHours = new Set(hours);
    if (recent === null) return;
    for (const hour of recent.hours) this.storedHours.delete(hour);
    this.sealed.unshift(recent);
  }

  /** The entry of the id in `idWords`, or -1. */
  find(): number {
    const { current, previous } = this;
    const entry = current.ids.get();
    if (entry >= 0) return entry * 2 + (current.number & 1);
    const older = previous.ids.get();
    return older < 0 ? -1 : older * 2 + (previous.number & 1);
  }

  /** A row, or with `hash` 0 only an id that rows name. `hour` is when the row begins, or the one that names it. */
  add(owner: number, hash: number, lead: number, hour: number): number {
    const { current } = this;
    const entry = current.count++;
    if (entry === current.owners.length) current.grow();
    current.ids.set(entry);
    current.bloom.add(keyLow(), keyHigh());
    if (hour !== this.lastHour) {
      current.hours.add(hour);
      this.lastHour = hour;
    }
    current.owners[entry] = owner;
    current.hashes[entry] = hash;
    current.leads[entry] = lead;
    current.flags[entry] = hash === 0 ? 0 : arrivedFlag;
    return entry * 2 + (current.number & 1);
  }

  /** What the store says of the id in `idWords`: as `add`, also when memory knows it without an owner. */
  know(owner: number, hash: number, lead: number, hour: number): void {
    const entry = this.find();
    if (entry < 0) {
      this.add(owner, hash, lead, hour);
      return;
    }
    this.disown(entry, owner);
    if (hash === 0) this.setLead(entry, lead);
    else this.arrive(entry, hash, lead);
  }

  /** The id of an entry arrived as a row. */
  arrive(entry: number, hash: number, lead: number): void {
    const generation = this.of(entry);
    const at = entry >>> 1;
    generation.hashes[at] = hash;
    generation.leads[at] = lead;
    generation.flags[at] = arrivedFlag;
  }

  isArrived(entry: number): boolean {
    return this.of(entry).flags[entry >>> 1] === arrivedFlag;
  }

  ownerOf(entry: number): number {
    return this.of(entry).owners[entry >>> 1] as number;
  }

  hashOf(entry: number): number {
    return this.of(entry).hashes[entry >>> 1] as number;
  }

  leadOf(entry: number): number {
    return this.of(entry).leads[entry >>> 1] as number;
  }

  setLead(entry: number, lead: number): void {
    this.of(entry).leads[entry >>> 1] = lead;
  }

  /** Its owner is gone: the id is as new from now on. */
  disown(entry: number, owner: number): void {
    const generation = this.of(entry);
    const at = entry >>> 1;
    generation.owners[at] = owner;
    generation.hashes[at] = 0;
    generation.leads[at] = 0;
    generation.flags[at] = 0;
  }

  /** The last journal record that added rows. */
  note(position: number): void {
    this.current.position = position;
  }

  /** Which filters may know rows that begin in these hours. */
  filtersOf(hours: ReadonlySet<number>): Bloom[] {
    return this.sealed.flatMap((sealed) => (sealed.hours.isDisjointFrom(hours) ? [] : [sealed.bloom]));
  }

  /** All filters: for ids whose rows may begin at any time. */
  filters(): Bloom[] {
    return this.sealed.map(({ bloom }) => bloom);
  }

  /** Whether stored rows that memory knows nothing of begin in this hour. */
  isStoredHour(hour: number): boolean {
    return this.storedHours === null || this.storedHours.has(hour);
  }

  get isFull(): boolean {
    return this.current.count >= this.limits.generationRows;
  }

  /**
   * Begins a new generation and lets the elder go, if all its rows are stored. Returns the number of the generation that
   * went, or -1.
   */
  rotate(storedPosition: number): number {
    const { previous } = this;
    if (previous.position > storedPosition) return -1;
    if (previous.count > 0) this.seal(previous);
    this.previous = this.current;
    this.current = new Generation(this.previous.number + 1, this.limits.generationRows);
    this.lastHour = Number.NaN;
    return previous.number;
  }

  private seal({ bloom, hours }: Generation): void {
    this.sealed.push({ bloom, hours });
    while (this.sealed.length > this.limits.filtersMax) {
      const oldest = this.sealed.shift() as Sealed;
      for (const hour of oldest.hours) this.storedHours?.add(hour);
    }
  }

  private of(entry: number): Generation {
    return (entry & 1) === (this.current.number & 1) ? this.current : this.previous;
  }
}

function copyInto<A extends Uint32Array | Uint8Array>(target: A, source: A): A {
  target.set(source);
  return target;
}
