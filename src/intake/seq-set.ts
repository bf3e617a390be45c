// The identities (seq, ts) of one worker's events: an exact set, with 32 bits of each event's content.
//
// Events come nearly in order, so a run of neighbouring sequence numbers is indexed by seq: 12 bytes an event and no
// hashing. A restarted run opens another beside it; what fits none (sequence numbers far apart, or beyond 2^53) goes to
// a hash map. Late events fill the places they left open.

import { wordPool } from "#base/array-pool.ts";
import { IdMap, idWords } from "#intake/id-map.ts";

/** The content of an event that was loaded from the store is not known. */
export const unknownContent = 1;

/** Beyond the end of a run of numbers, a number this close still joins it. */
const gapMax = 1024;
const runsMax = 32;
const two32 = 4294967296;

/** Pieces are of one size, so that the memory of a run that is let go is just what the next one needs. */
const pieceBits = 14;
const pieceLength = 2 ** pieceBits;
const pieceLengthMin = 16;

interface Piece {
  /** Low and high word of each event's time. */
  times: Uint32Array;
  /** 0: no event here. Shorter than a whole piece as long as a worker has sent little. */
  contents: Uint32Array;
}

interface SeqRun {
  readonly first: number;
  length: number;
  readonly pieces: Piece[];
}

export type Verdict = "new" | "duplicate" | "conflict";

export class SeqSet {
  size = 0;
  private runs: SeqRun[] = [];
  private rest: IdMap | undefined;

  get byteSize(): number {
    let places = 0;
    for (const { pieces } of this.runs) for (const { contents } of pieces) places += contents.length;
    return places * 12 + (this.rest?.byteSize ?? 0);
  }

  /** Leaves its memory to others; the set is empty afterwards. */
  release(): void {
    for (const { pieces } of this.runs)
      for (const { times, contents } of pieces) {
        wordPool.give(times);
        wordPool.give(contents);
      }
    this.runs = [];
    this.rest = undefined;
    this.size = 0;
  }

  /** Adds an event unless its identity is known. */
  add(seqLow: number, seqHigh: number, tsLow: number, tsHigh: number, content: number): Verdict {
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
    const known = this.findRest(seqLow, seqHigh, tsLow, tsHigh);
    if (known !== 0) return compare(known, content >>> 1);
    this.size++;
    if (seqHigh >= 0x200000) open = undefined;
    else if (open === undefined && this.runs.length < runsMax) open = this.openRun(seq);
    if (open === undefined) this.addRest(content);
    else fill(open, seq - open.first, tsLow, tsHigh, content);
    return "new";
  }

  private openRun(first: number): SeqRun {
    const run: SeqRun = { first, length: 0, pieces: [] };
    this.runs.push(run);
    return run;
  }

  private findRest(seqLow: number, seqHigh: number, tsLow: number, tsHigh: number): number {
    idWords[0] = seqLow;
    idWords[1] = seqHigh;
    idWords[2] = tsLow;
    idWords[3] = tsHigh;
    return this.rest === undefined ? 0 : this.rest.get() + 1;
  }

  /** `idWords` still holds the identity. The map keeps 31 bits of the content. */
  private addRest(content: number): void {
    this.rest ??= new IdMap();
    this.rest.set((content >>> 1) - 1);
  }
}

function compare(known: number, content: number): Verdict {
  return known === content || known <= unknownContent || content <= unknownContent ? "duplicate" : "conflict";
}

function fill(run: SeqRun, place: number, tsLow: number, tsHigh: number, content: number): void {
  const at = place % pieceLength;
  const { times, contents } = pieceFor(run, place >>> pieceBits, at);
  times[at * 2] = tsLow;
  times[at * 2 + 1] = tsHigh;
  contents[at] = content;
  if (place >= run.length) run.length = place + 1;
}

function pieceFor({ pieces }: SeqRun, index: number, at: number): Piece {
  // Only the first piece begins small: who needs a second one has sent a lot.
  while (pieces.length <= index) pieces.push(makePiece(pieces.length === 0 ? pieceLengthMin : pieceLength));
  const piece = pieces[index] as Piece;
  if (at < piece.contents.length) return piece;
  const { times, contents } = makePiece(Math.min(pieceLength, Math.max(piece.contents.length * 2, at + 1)));
  times.set(piece.times);
  contents.set(piece.contents);
  piece.times = times;
  piece.contents = contents;
  return piece;
}

function makePiece(length: number): Piece {
  const contents = wordPool.take(length).fill(0);
  return { contents, times: wordPool.take(contents.length * 2) };
}
