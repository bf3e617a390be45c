// The latest points, steps and checkpoints of a run in order, to be replayed once its stored past has been read. While the
// store lags, thousands of runs wait for that, so they lie in columns: objects would take ten times the memory.

import type { SenderNs, ServerNs } from "#base/clock.ts";
import type { PointColumns } from "#judge/points.ts";
import type { RunTrack, TrackStep } from "#judge/track.ts";
import type { WorkerId } from "#model/names.ts";

/** At least so many are kept, at most twice as many. */
export const arrivalsMin = 1000;
const roomMin = 16;

const kinds = { point: 0, pointWithoutStep: 1, step: 2, stepWithoutTime: 3, wait: 4, checkpoint: 5 } as const;
type Kind = (typeof kinds)[keyof typeof kinds];

interface Name {
  readonly key: string;
  readonly phase: string;
  readonly worker: string;
}

export class Arrivals {
  private elder: Stretch | null = null;
  private younger = new Stretch();

  /** Rows [from, to), all of them points of one series with a value. */
  addPoints(rows: PointColumns, from: number, to: number, receivedNs: ServerNs): void {
    // Earlier ones would be dropped in a moment.
    const first = Math.max(from, to - arrivalsMin);
    const key = rows.key.at(first);
    const phase = rows.phase.at(first);
    const worker = rows.worker.at(first);
    for (let row = first; row < to; row++) this.open().addPoint(key, phase, worker, rows, row, receivedNs);
  }

  addStep({ worker, step, tsNs, tookNs }: TrackStep, receivedNs: ServerNs): void {
    const kind = tookNs === null ? kinds.stepWithoutTime : kinds.step;
    this.open().add(kind, worker, tookNs ?? 0, step, tsNs, receivedNs);
  }

  addWait(worker: WorkerId, ns: number): void {
    this.open().add(kinds.wait, worker, ns, 0n, 0n, 0n);
  }

  addCheckpoint(tsNs: SenderNs): void {
    this.open().add(kinds.checkpoint, "", 0, 0n, tsNs, 0n);
  }

  giveTo(track: RunTrack): void {
    this.elder?.giveTo(track);
    this.younger.giveTo(track);
  }

  private open(): Stretch {
    if (this.younger.count < arrivalsMin) return this.younger;
    const used = this.elder ?? new Stretch();
    used.clear();
    this.elder = this.younger;
    this.younger = used;
    return used;
  }
}

class Stretch {
  count = 0;
  private names: Name[] = [];
  private readonly placeOfName = new Map<string, number>();
  private lastPlace = 0;
  private kinds = new Uint8Array(roomMin);
  private named = new Uint16Array(roomMin);
  private values = new Float64Array(roomMin);
  /** Three each: its step, its time, its arrival. */
  private numbers = new BigInt64Array(3 * roomMin);
  /** The same as halves: making bigints of the rows would be most of the work. */
  private words = new Uint32Array(this.numbers.buffer);

  /** The row of a point with this name. */
  addPoint(key: string, phase: string, worker: string, rows: PointColumns, row: number, receivedNs: ServerNs): void {
    const { step, ts_ns, value } = rows;
    const kind = step.isNull(row) ? kinds.pointWithoutStep : kinds.point;
    const at = this.begin(kind, this.place(key, phase, worker), value.inner.values[row] as number, receivedNs);
    if (kind === kinds.point) {
      this.words[6 * at] = step.inner.words[2 * row] as number;
      this.words[6 * at + 1] = step.inner.words[2 * row + 1] as number;
    }
    this.words[6 * at + 2] = ts_ns.words[2 * row] as number;
    this.words[6 * at + 3] = ts_ns.words[2 * row + 1] as number;
  }

  add(kind: Kind, worker: string, value: number, step: bigint, tsNs: bigint, receivedNs: bigint): void {
    const at = this.begin(kind, this.place("", "", worker), value, receivedNs);
    this.numbers[3 * at] = step;
    this.numbers[3 * at + 1] = tsNs;
  }

  clear(): void {
    this.count = 0;
    this.names = [];
    this.placeOfName.clear();
  }

  private begin(kind: Kind, place: number, value: number, receivedNs: bigint): number {
    const at = this.count++;
    if (at === this.kinds.length) this.grow();
    this.kinds[at] = kind;
    this.named[at] = place;
    this.values[at] = value;
    this.numbers[3 * at + 2] = receivedNs;
    return at;
  }

  giveTo(track: RunTrack): void {
    for (let at = 0; at < this.count; at++) this.give(track, at);
  }

  private give(track: RunTrack, at: number): void {
    const name = this.names[this.named[at] as number] as Name;
    const { worker } = name;
    const value = this.values[at] as number;
    const step = this.numbers[3 * at] as bigint;
    const tsNs = this.numbers[3 * at + 1] as SenderNs;
    const receivedNs = this.numbers[3 * at + 2] as ServerNs;
    const kind = this.kinds[at];
    if (kind === kinds.point) track.addPoint({ ...name, step, tsNs, value }, receivedNs);
    else if (kind === kinds.pointWithoutStep) track.addPoint({ ...name, step: null, tsNs, value }, receivedNs);
    else if (kind === kinds.step) track.addStep({ worker, step, tsNs, tookNs: value }, receivedNs);
    else if (kind === kinds.stepWithoutTime) track.addStep({ worker, step, tsNs, tookNs: null }, receivedNs);
    else if (kind === kinds.wait) track.addWait(worker, value);
    else track.addCheckpoint(tsNs);
  }

  private place(key: string, phase: string, worker: string): number {
    if (this.isAt(this.lastPlace, key, phase, worker)) return this.lastPlace;
    // Metrics that are sent together come in the same order each time.
    const next = this.lastPlace + 1 < this.names.length ? this.lastPlace + 1 : 0;
    this.lastPlace = this.isAt(next, key, phase, worker) ? next : this.find(key, phase, worker);
    return this.lastPlace;
  }

  private isAt(place: number, key: string, phase: string, worker: string): boolean {
    const name = this.names[place];
    return name?.key === key && name.phase === phase && name.worker === worker;
  }

  private find(key: string, phase: string, worker: string): number {
    const text = `${key}\n${phase}\n${worker}`;
    const place = this.placeOfName.get(text) ?? this.names.push({ key, phase, worker }) - 1;
    this.placeOfName.set(text, place);
    return place;
  }

  private grow(): void {
    const room = Math.min(2 * this.kinds.length, arrivalsMin);
    this.kinds = inMoreRoom(new Uint8Array(room), this.kinds);
    this.named = inMoreRoom(new Uint16Array(room), this.named);
    this.values = inMoreRoom(new Float64Array(room), this.values);
    this.numbers = inMoreRoom(new BigInt64Array(3 * room), this.numbers);
    this.words = new Uint32Array(this.numbers.buffer);
  }
}

function inMoreRoom<T extends { set(from: T): void }>(room: T, from: T): T {
  room.set(from);
  return room;
}
