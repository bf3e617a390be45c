// The identities (seq, ts) of one worker's events: an exact set, with 32 bits of each event's content.
//
// Events come nearly in order, so a run of neighbouring sequence numbers is an array indexed by seq: 12 bytes an event
// and no hashing. A restarted run opens another array beside it; what fits no array (sequence numbers far apart, or
// beyond 2^53) goes to a hash map. Late events fill the places they left open.

import { IdMap, idWords } from "#intake/id-map.ts";

/** The content of an event that was loaded from the store is not known. */
export const unknownContent = 1;

/** Beyond the end of a run of numbers, a number this close still joins it. */
const gapMax = 1024;
const runsMax = 32;
const two32 = 4294967296;

interface SeqRun {
  readonly first: number;
  length: number;
  /** Low and high word of each event's time. */
  times: Uint32Array;
  /** 0: no event here. */
  contents: Uint32Array;
}

export type Verdict = "new" | "duplicate" | "conflict";

export class SeqSet {
  size = 0;
  private readonly runs: SeqRun[] = [];
  private rest: IdMap | undefined;

  get byteSize(): number {
    return this.runs.reduce((sum, run) => sum + run.contents.length * 12, 0) + (this.rest?.byteSize ?? 0);
  }

  /** Adds an event unless its identity is known. */
  add(seqLow: number, seqHigh: number, tsLow: number, tsHigh: number, content: number): Verdict {
    const seq = seqHigh * two32 + seqLow;
    let open: SeqRun | undefined;
    for (let i = this.runs.length - 1; i >= 0; i--) {
      const run = this.runs[i] as SeqRun;
      const place = seq - run.first;
      if (place < 0 || place >= run.length + gapMax) continue;
      const known = place < run.length ? (run.contents[place] as number) : 0;
      if (known === 0) open ??= run;
      else if (run.times[place * 2] === tsLow && run.times[place * 2 + 1] === tsHigh) return compare(known, content);
    }
    const known = this.findRest(seqLow, seqHigh, tsLow, tsHigh);
    if (known !== 0) return compare(known, content >>> 1);
    this.size++;
    if (seqHigh >= 0x200000) open = undefined;
    else if (open === undefined && this.runs.length < runsMax) open = this.openRun(seq);
    if (open === undefined) this.addRest(content);
    else place(open, seq - open.first, tsLow, tsHigh, content);
    return "new";
  }

  private openRun(first: number): SeqRun {
    const run = { first, length: 0, times: new Uint32Array(32), contents: new Uint32Array(16) };
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

function place(run: SeqRun, at: number, tsLow: number, tsHigh: number, content: number): void {
  if (at >= run.contents.length) {
    const capacity = Math.max(run.contents.length * 2, at + 1);
    const contents = new Uint32Array(capacity);
    contents.set(run.contents);
    run.contents = contents;
    const times = new Uint32Array(capacity * 2);
    times.set(run.times);
    run.times = times;
  }
  run.times[at * 2] = tsLow;
  run.times[at * 2 + 1] = tsHigh;
  run.contents[at] = content;
  if (at >= run.length) run.length = at + 1;
}
