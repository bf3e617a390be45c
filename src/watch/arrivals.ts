// What came of a run lately, in order, to be told again once what is stored of it has been read. Beside a store that lags
// thousands of runs wait for that, so what came lies in columns: an object each would take ten times as much.

import type { SenderNs, ServerNs } from "#base/clock.ts";
import { type PointColumns, pointAt } from "#judge/points.ts";
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
const nobody: Name = { key: "", phase: "", worker: "" };

export class Arrivals {
  private elder: Stretch | null = null;
  private younger = new Stretch();

  /** Rows [from, to), all of them points of one series with a value. */
  addPoints(rows: PointColumns, from: number, to: number, receivedNs: ServerNs): void {
    // The others would be dropped in a moment.
    for (let row = Math.max(from, to - arrivalsMin); row < to; row++) {
      const { step, tsNs, value, ...name } = pointAt(rows, row);
      this.add(step === null ? kinds.pointWithoutStep : kinds.point, name, value, step ?? 0n, tsNs, receivedNs);
    }
  }

  addStep({ worker, step, tsNs, tookNs }: TrackStep, receivedNs: ServerNs): void {
    const kind = tookNs === null ? kinds.stepWithoutTime : kinds.step;
    this.add(kind, { ...nobody, worker }, tookNs ?? 0, step, tsNs, receivedNs);
  }

  addWait(worker: WorkerId, ns: number): void {
    this.add(kinds.wait, { ...nobody, worker }, ns, 0n, 0n, 0n);
  }

  addCheckpoint(tsNs: SenderNs): void {
    this.add(kinds.checkpoint, nobody, 0, 0n, tsNs, 0n);
  }

  giveTo(track: RunTrack): void {
    this.elder?.giveTo(track);
    this.younger.giveTo(track);
  }

  private add(kind: Kind, name: Name, value: number, step: bigint, tsNs: bigint, receivedNs: bigint): void {
    if (this.younger.count === arrivalsMin) {
      this.elder = this.younger;
      this.younger = new Stretch();
    }
    this.younger.add(kind, name, value, step, tsNs, receivedNs);
  }
}

class Stretch {
  count = 0;
  private readonly names: Name[] = [];
  private readonly placeOfName = new Map<string, number>();
  private lastPlace = 0;
  private kinds = new Uint8Array(roomMin);
  private named = new Uint16Array(roomMin);
  private values = new Float64Array(roomMin);
  /** Three each: its step, its time, its arrival. */
  private numbers = new BigInt64Array(3 * roomMin);

  add(kind: Kind, name: Name, value: number, step: bigint, tsNs: bigint, receivedNs: bigint): void {
    const at = this.count++;
    if (at === this.kinds.length) this.grow();
    this.kinds[at] = kind;
    this.named[at] = this.place(name);
    this.values[at] = value;
    this.numbers[3 * at] = step;
    this.numbers[3 * at + 1] = tsNs;
    this.numbers[3 * at + 2] = receivedNs;
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

  private place({ key, phase, worker }: Name): number {
    const last = this.names[this.lastPlace];
    if (last?.key === key && last.phase === phase && last.worker === worker) return this.lastPlace;
    const text = `${key}\n${phase}\n${worker}`;
    this.lastPlace = this.placeOfName.get(text) ?? this.names.push({ key, phase, worker }) - 1;
    this.placeOfName.set(text, this.lastPlace);
    return this.lastPlace;
  }

  private grow(): void {
    const room = Math.min(2 * this.kinds.length, arrivalsMin);
    this.kinds = inMoreRoom(new Uint8Array(room), this.kinds);
    this.named = inMoreRoom(new Uint16Array(room), this.named);
    this.values = inMoreRoom(new Float64Array(room), this.values);
    this.numbers = inMoreRoom(new BigInt64Array(3 * room), this.numbers);
  }
}

function inMoreRoom<T extends { set(from: T): void }>(room: T, from: T): T {
  room.set(from);
  return room;
}
