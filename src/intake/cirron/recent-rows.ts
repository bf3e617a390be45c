// Which Cirron rows memory knows. Recent rows are known exactly: their ids, their content and what they belong to. They are
// kept in two generations; when the younger is full, the older is dropped as a whole, and a filter of its ids remains for a
// while. Of still older rows, only the hours in which they begin are known, each with the end of its last row.
//
// A copy of a row begins when the row began. So an id that memory does not have is new, and the store need not be asked,
// unless a filter for its hour knows it or it begins in an hour that only the store knows. What live jobs send begins after
// everything that was dropped has ended.

import { FingerprintSet } from "#base/fingerprint-set.ts";
import { IdMap, type IdWalk, idWords } from "#intake/id-map.ts";
import { idSalts } from "#model/id-salts.ts";
import { hourOfTime, keyHigh, keyLow } from "./row-ids.ts";

/** Each kind of row has its own ids: the same text may name a span and a mark. */
export type RowKind = keyof typeof idSalts;

/** Makes the id in `idWords` that of a row of this kind. */
export function saltId(kind: RowKind): void {
  // The second word is part of the stored key.
  idWords[1] = ((idWords[1] as number) ^ idSalts[kind]) >>> 0;
}

export interface RecentLimits {
  /** Rows per generation; two generations are kept. */
  readonly generationRows: number;
  /** How many filters of dropped generations are kept; each covers several generations. */
  readonly filtersMax: number;
}

export const defaultRecentLimits: RecentLimits = { generationRows: 1 << 19, filtersMax: 4 };

/** With the default limits, this many fill a filter as far as it stays fast. */
const generationsPerFilter = 6;

/** By hour: when the last of the rows that begin in it ended, in nanoseconds as a double has them. */
export type RowHours = ReadonlyMap<number, number>;

export interface RowFilter {
  readonly ids: FingerprintSet;
  readonly hours: RowHours;
}

export interface TimedFilter {
  readonly ids: FingerprintSet;
  readonly until: number;
}

interface Sealed extends RowFilter {
  readonly hours: Map<number, number>;
}

/**
 * The ids of the older generation on their way into a filter. A few are copied whenever rows are added to the younger one,
 * because half a million at once would hold up everything.
 */
interface Sealing {
  readonly filter: Sealed;
  readonly left: IdWalk;
}

/** Each time this many rows were added, twice as many ids of the older generation are sealed, so all are before it is dropped. */
const sealEvery = 64;

/** In a row's `flags`: it has arrived, and is not only named by others. */
const arrivedFlag = 1;

class Generation {
  readonly ids = new IdMap();
  readonly hours = new Map<number, number>();
  readonly number: number;
  /** The last journal record that added to it. */
  position = 0;
  owners = new Uint32Array(256);
  hashes = new Uint32Array(256);
  leads = new Uint32Array(256);
  flags = new Uint8Array(256);
  count = 0;

  private hour = Number.NaN;
  private hourEnd = Number.NEGATIVE_INFINITY;

  constructor(number: number) {
    this.number = number;
  }

  /** Notes the end by the hour of the start. Rows of one hour are mostly adjacent. */
  noteTimes(start: number, end: number): void {
    const hour = hourOfTime(start);
    if (hour !== this.hour) {
      this.endHour();
      this.hour = hour;
    }
    if (end > this.hourEnd) this.hourEnd = end;
  }

  endHour(): void {
    if (!Number.isNaN(this.hour)) noteEnd(this.hours, this.hour, this.hourEnd);
    this.hourEnd = Number.NEGATIVE_INFINITY;
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
  /** Null before the first rows are added, and when its filter was dropped. */
  private sealing: Sealing | null = null;
  /** The hours of rows that only the store knows; null if every hour may be one. */
  private storedHours: Map<number, number> | null;
  /** None of those rows begins later. */
  private storedUntil: number;

  /** `hours` null: the store may hold anything. */
  constructor(hours: RowHours | null, limits: RecentLimits = defaultRecentLimits) {
    this.limits = limits;
    this.storedHours = hours === null ? null : new Map(hours);
    this.storedUntil = lastEnd(this.storedHours);
    this.previous = new Generation(0);
    this.current = new Generation(1);
  }

  /** The generation that rows are added to now. */
  get generation(): number {
    return this.current.number;
  }

  /** The store need not be asked about anything. */
  get isWhole(): boolean {
    return this.sealed.length === 0 && this.storedHours?.size === 0;
  }

  /** As read at start: the hours in which stored rows begin, and a filter for those hours in which rows are likely to arrive. */
  warm(hours: RowHours, recent: RowFilter | null): void {
    this.storedHours = new Map(hours);
    for (const hour of recent?.hours.keys() ?? []) this.storedHours.delete(hour);
    this.storedUntil = lastEnd(this.storedHours);
    if (recent !== null) this.sealed.unshift({ ids: recent.ids, hours: new Map(recent.hours) });
  }

  /** The entry of the id in `idWords`, or -1. */
  find(): number {
    const { current, previous } = this;
    const entry = current.ids.get();
    if (entry >= 0) return entry * 2 + (current.number & 1);
    const older = previous.ids.get();
    return older < 0 ? -1 : older * 2 + (previous.number & 1);
  }

  /** Adds a row, or with `hash` 0 an id that rows name. The times are the row's, or those of the row that names it. */
  add(owner: number, hash: number, lead: number, start: number, end: number): number {
    const { current } = this;
    const entry = current.count++;
    if (entry === current.owners.length) current.grow();
    if (entry % sealEvery === 0) this.sealSome(sealEvery * 2);
    current.ids.set(entry);
    current.noteTimes(start, end);
    current.owners[entry] = owner;
    current.hashes[entry] = hash;
    current.leads[entry] = lead;
    current.flags[entry] = hash === 0 ? 0 : arrivedFlag;
    return entry * 2 + (current.number & 1);
  }

  /** Takes in what the store knows about the id in `idWords`: as `add`, but memory may know the id without an owner. */
  know(owner: number, hash: number, lead: number, time: number): void {
    const entry = this.find();
    if (entry < 0) {
      this.add(owner, hash, lead, time, time);
      return;
    }
    this.disown(entry, owner);
    if (hash === 0) this.setLead(entry, lead);
    else this.arrive(entry, hash, lead, time, time);
  }

  /** The id of an entry arrived as a row. */
  arrive(entry: number, hash: number, lead: number, start: number, end: number): void {
    const generation = this.of(entry);
    generation.noteTimes(start, end);
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

  /** Its owner is gone: from now on the id counts as new. */
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

  /** The filters that may know rows of this hour, each with the time after which none of them begins. */
  filtersOf(hour: number): TimedFilter[] {
    return this.sealed.flatMap(({ ids, hours }) => {
      const until = hours.get(hour);
      return until === undefined ? [] : [{ ids, until }];
    });
  }

  /** All filters: for ids whose rows may begin at any time. */
  filters(): FingerprintSet[] {
    return this.sealed.map(({ ids }) => ids);
  }

  /** Whether a row that begins at this time may be stored without memory knowing of it. */
  mayBeStored(time: number): boolean {
    if (time > this.storedUntil) return false;
    if (this.storedHours === null) return true;
    const end = this.storedHours.get(hourOfTime(time));
    return end !== undefined && time <= end;
  }

  /** How many generations must be dropped: the older when the younger is full, both when only a share of one is to be kept. */
  generationsBeyond(share: number): number {
    const { current, previous } = this;
    const rowsMax = this.limits.generationRows * share;
    if (share >= 1) return current.count >= rowsMax ? 1 : 0;
    return current.count + previous.count >= rowsMax ? 2 : 0;
  }

  /**
   * Begins a new generation and drops the older, if all its rows are stored. Returns the number of the dropped generation,
   * or -1.
   */
  rotate(storedPosition: number): number {
    const { previous } = this;
    if (previous.position > storedPosition) return -1;
    this.seal();
    this.sealing = null;
    this.previous = this.current;
    this.current = new Generation(this.previous.number + 1);
    return previous.number;
  }

  /** A filter only counts for its hours, which are added when the generation is dropped, so ids in it mislead nobody before. */
  private sealSome(count: number): Sealed | null {
    const { previous } = this;
    if (previous.count === 0) return null;
    this.sealing ??= { filter: this.filterFor(previous.count), left: previous.ids.walk() };
    const { filter, left } = this.sealing;
    left.next(count, (words, at) => filter.ids.add(keyLow(words, at), keyHigh(words, at)));
    return filter;
  }

  private seal(): void {
    const { previous } = this;
    const filter = this.sealSome(previous.count);
    if (filter === null) return;
    previous.endHour();
    for (const [hour, end] of previous.hours) noteEnd(filter.hours, hour, end);
    if (!this.sealed.includes(filter)) this.sealed.push(filter);
    this.dropFilters(1);
  }

  /** Keeps a share of the filters, the newest. Rows of the others are then known only by their hours, like all older rows. */
  dropFilters(share: number): void {
    while (this.sealed.length > this.limits.filtersMax * share) {
      const oldest = this.sealed.shift() as Sealed;
      if (oldest === this.sealing?.filter) this.sealing = null;
      if (this.storedHours !== null) for (const [hour, end] of oldest.hours) noteEnd(this.storedHours, hour, end);
      this.storedUntil = Math.max(this.storedUntil, lastEnd(oldest.hours));
    }
  }

  private filterFor(rows: number): Sealed {
    const last = this.sealed.at(-1);
    if (last !== undefined && last.ids.size + rows <= last.ids.capacity) return last;
    // While the store is behind, a generation holds more rows than it should.
    const capacity = Math.max(this.limits.generationRows * generationsPerFilter, rows);
    return { ids: new FingerprintSet(capacity), hours: new Map<number, number>() };
  }

  private of(entry: number): Generation {
    return (entry & 1) === (this.current.number & 1) ? this.current : this.previous;
  }
}

function lastEnd(hours: RowHours | null): number {
  let last = Number.NEGATIVE_INFINITY;
  if (hours === null) return Number.POSITIVE_INFINITY;
  for (const end of hours.values()) last = Math.max(last, end);
  return last;
}

function noteEnd(hours: Map<number, number>, hour: number, end: number): void {
  const known = hours.get(hour);
  if (known === undefined || end > known) hours.set(hour, end);
}

function copyInto<A extends Uint32Array | Uint8Array>(target: A, source: A): A {
  target.set(source);
  return target;
}
