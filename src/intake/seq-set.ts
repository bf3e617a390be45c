// The identities (seq, ts) of one worker's events: an exact set, with 32 bits of each event's content.
//
// Events come nearly in order, so a run of neighbouring sequence numbers is indexed by seq: 12 bytes per event and no
// hashing. After a restart of the worker another run is opened beside it; what fits no run (sequence numbers far apart, or
// beyond 2^53) goes into hash maps. Late events fill the gaps they left.
//
// A long run's older events are dropped piece by piece once they are stored, and only their ranges are kept: see
// away-events.ts. Before an event in such a range is added, the range must be read back.

import { wordPool } from "#base/array-pool.ts";
import { IdMap, idWords } from "#intake/id-map.ts";
import { AwayEvents, type AwayPart, isInside, unite } from "./away-events.ts";

/** The content of an event that was loaded from the store is not known. */
export const unknownContent = 1;

/** A number this far beyond the end of a run still joins it. */
const gapMax = 1024;
const runsMax = 32;
const two32 = 4294967296;

/** Pieces have one size, so that the memory of a dropped piece fits the next one. */
const pieceBits = 12;
const pieceLength = 2 ** pieceBits;
const pieceLengthMin = 16;
/** Strays, which fit no run, are dropped in sets of this many. */
const strayMax = 65_536;

/** The value of an id that is not in a map. */
const notThere = -1;

interface Piece {
  /** Low and high word of each event's time. */
  times: Uint32Array;
  /** 0: no event here. Shorter than a whole piece while a worker has sent little. */
  contents: Uint32Array;
  /** The last journal record that added to it. */
  position: number;
}

interface SeqRun {
  readonly first: number;
  length: number;
  /** Undefined: dropped, or never filled. */
  readonly pieces: (Piece | undefined)[];
}

/** Events that fit no run. */
interface Strays {
  readonly ids: IdMap;
  away: AwayPart;
  position: number;
}

/** A part of a set that can be dropped. */
export interface SetPart {
  readonly position: number;
  readonly bytes: number;
  letGo(): void;
}

export type Novelty = "new" | "duplicate" | "conflict";

export class SeqSet {
  size = 0;
  /** The journal record whose events are being added. */
  position = 0;
  readonly away: AwayEvents = new AwayEvents();
  private runs: SeqRun[] = [];
  private strays: Strays[] = [];

  get byteSize(): number {
    let sum = 0;
    for (const { pieces } of this.runs) for (const piece of pieces) sum += piece === undefined ? 0 : bytesOf(piece);
    for (const { ids } of this.strays) sum += ids.byteSize;
    return sum;
  }

  /** Returns its memory to the pool; the set is empty afterwards. */
  release(): void {
    for (const { pieces } of this.runs) for (const piece of pieces) if (piece !== undefined) giveBack(piece);
    this.runs = [];
    this.strays = [];
    this.size = 0;
  }

  /** The parts whose events are all in the store, except those that the next event is likely to join. */
  *settledParts(storedPosition: number): Generator<SetPart> {
    for (const { first, pieces } of this.runs) {
      for (const [index, piece] of pieces.entries()) {
        if (piece === undefined || piece.position > storedPosition || index === pieces.length - 1) continue;
        const letGo = (): void => {
          pieces[index] = undefined;
          this.noteAway(toAwayPart(piece, first + index * pieceLength));
          giveBack(piece);
        };
        yield { position: piece.position, bytes: bytesOf(piece), letGo };
      }
    }
    for (const strays of this.strays.slice(0, -1)) {
      if (strays.position > storedPosition) continue;
      const letGo = (): void => {
        this.strays = this.strays.filter((each) => each !== strays);
        this.noteAway(strays.away);
      };
      yield { position: strays.position, bytes: strays.ids.byteSize, letGo };
    }
  }

  /** Adds an event unless its identity is known. It must not lie where events are away. */
  add(seqLow: number, seqHigh: number, tsLow: number, tsHigh: number, content: number): Novelty {
    const seq = seqHigh * two32 + seqLow;
    let open: SeqRun | undefined;
    for (let i = this.runs.length - 1; i >= 0; i--) {
      const run = this.runs[i] as SeqRun;
      const place = seq - run.first;
      if (place < 0 || place >= run.length + gapMax) continue;
      const piece = run.pieces[place >>> pieceBits];
      const at = place % pieceLength;
      const known = piece === undefined || at >= piece.contents.length ? 0 : (piece.contents[at] as number);
      if (known === 0) open ??= run;
      else if (piece?.times[at * 2] === tsLow && piece.times[at * 2 + 1] === tsHigh) return compare(known, content);
    }
    const known = this.strays.length === 0 ? notThere : this.findStray(seqLow, seqHigh, tsLow, tsHigh);
    if (known !== notThere) return compare(known, content >>> 1);
    this.size++;
    if (seqHigh >= 0x200000) open = undefined;
    else if (open === undefined && this.runs.length < runsMax) open = this.openRun(seq);
    if (open === undefined) this.addStray(seqLow, seqHigh, tsLow, tsHigh, content);
    else fill(open, seq - open.first, tsLow, tsHigh, content, this.position);
    return "new";
  }

  private noteAway(part: AwayPart): void {
    this.size -= part.events;
    this.away.add(part);
  }

  private openRun(first: number): SeqRun {
    const run: SeqRun = { first, length: 0, pieces: [] };
    this.runs.push(run);
    return run;
  }

  private findStray(seqLow: number, seqHigh: number, tsLow: number, tsHigh: number): number {
    loadWords(seqLow, seqHigh, tsLow, tsHigh);
    const [seq, ts] = [toDouble(seqLow, seqHigh), toDouble(tsLow, tsHigh)];
    for (const { ids, away } of this.strays) {
      const known = isInside(away, seq, ts) ? ids.get() : notThere;
      if (known !== notThere) return known;
    }
    return notThere;
  }

  /** The map keeps 31 bits of the content. */
  private addStray(seqLow: number, seqHigh: number, tsLow: number, tsHigh: number, content: number): void {
    const [seq, ts] = [toDouble(seqLow, seqHigh), toDouble(tsLow, tsHigh)];
    const place: AwayPart = { firstSeq: seq, lastSeq: seq, fromNs: ts, toNs: ts, events: 1 };
    let strays = this.strays.at(-1);
    if (strays === undefined || strays.away.events >= strayMax) {
      strays = { ids: new IdMap(), away: place, position: 0 };
      this.strays.push(strays);
    } else strays.away = unite(strays.away, place);
    strays.position = this.position;
    loadWords(seqLow, seqHigh, tsLow, tsHigh);
    strays.ids.set(content >>> 1);
  }
}

/** The double nearest to a signed 64-bit integer. */
export function toDouble(low: number, high: number): number {
  return (high | 0) * two32 + low;
}

function loadWords(seqLow: number, seqHigh: number, tsLow: number, tsHigh: number): void {
  idWords[0] = seqLow;
  idWords[1] = seqHigh;
  idWords[2] = tsLow;
  idWords[3] = tsHigh;
}

function compare(known: number, content: number): Novelty {
  return known === content || known <= unknownContent || content <= unknownContent ? "duplicate" : "conflict";
}

function fill(run: SeqRun, place: number, tsLow: number, tsHigh: number, content: number, position: number): void {
  const at = place % pieceLength;
  const piece = pieceFor(run, place >>> pieceBits, at);
  piece.times[at * 2] = tsLow;
  piece.times[at * 2 + 1] = tsHigh;
  piece.contents[at] = content;
  piece.position = position;
  if (place >= run.length) run.length = place + 1;
}

function pieceFor({ pieces }: SeqRun, index: number, at: number): Piece {
  // Only the first piece starts small: a worker that needs a second one has sent a lot.
  while (pieces.length < index) pieces.push(undefined);
  const piece = pieces[index];
  const length = piece?.contents.length ?? (index === 0 ? pieceLengthMin / 2 : pieceLength / 2);
  if (piece !== undefined && at < length) return piece;
  const made = makePiece(Math.min(pieceLength, Math.max(length * 2, at + 1)));
  if (piece !== undefined) {
    made.times.set(piece.times);
    made.contents.set(piece.contents);
    giveBack(piece);
  }
  pieces[index] = made;
  return made;
}

function makePiece(length: number): Piece {
  const contents = wordPool.take(length).fill(0);
  return { contents, times: wordPool.take(contents.length * 2), position: 0 };
}

function giveBack({ times, contents }: Piece): void {
  wordPool.give(times);
  wordPool.give(contents);
}

function bytesOf({ contents }: Piece): number {
  return contents.length * 12;
}

function toAwayPart({ times, contents }: Piece, firstSeq: number): AwayPart {
  let [first, last, events, fromNs, toNs] = [-1, -1, 0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let at = 0; at < contents.length; at++) {
    if (contents[at] === 0) continue;
    const ts = toDouble(times[at * 2] as number, times[at * 2 + 1] as number);
    if (first < 0) first = at;
    last = at;
    events++;
    if (ts < fromNs) fromNs = ts;
    if (ts > toNs) toNs = ts;
  }
  return { firstSeq: firstSeq + first, lastSeq: firstSeq + last, fromNs, toNs, events };
}
