// Sequence numbers as they came, folded into rows of neighbours: gaps are found from a few rows instead of all events.
// A range goes on while numbers grow by one and times do not run backwards; a run_start always begins one.

import type { Rows } from "#model/tables.ts";

const two32 = 4294967296;

export class SeqRange {
  events = 0;
  duplicates = 0;
  private readonly worker: string;
  private readonly groupKey: string;
  // First and last, each as low and high word.
  private readonly firstSeq: readonly [number, number];
  private readonly firstTs: readonly [number, number];
  private lastSeqLow: number;
  private lastSeqHigh: number;
  private lastTsLow: number;
  private lastTsHigh: number;

  constructor(groupKey: string, worker: string, seqLow: number, seqHigh: number, tsLow: number, tsHigh: number) {
    this.groupKey = groupKey;
    this.worker = worker;
    this.firstSeq = [seqLow, seqHigh];
    this.firstTs = [tsLow, tsHigh];
    this.lastSeqLow = seqLow;
    this.lastSeqHigh = seqHigh;
    this.lastTsLow = tsLow;
    this.lastTsHigh = tsHigh;
  }

  /** Takes the next event; false when it does not follow the last one. */
  extend(seqLow: number, seqHigh: number, tsLow: number, tsHigh: number): boolean {
    const isNext = seqHigh === this.lastSeqHigh ? seqLow === this.lastSeqLow + 1 : this.isCarry(seqLow, seqHigh);
    const isLater = tsHigh === this.lastTsHigh ? tsLow >= this.lastTsLow : tsHigh > this.lastTsHigh;
    if (!isNext || !isLater) return false;
    this.lastSeqLow = seqLow;
    this.lastSeqHigh = seqHigh;
    this.lastTsLow = tsLow;
    this.lastTsHigh = tsHigh;
    this.events++;
    return true;
  }

  pushTo(rows: Rows<"seq_ranges">): void {
    rows.group_key.push(this.groupKey);
    rows.worker.push(this.worker);
    rows.first_seq.pushWords(...this.firstSeq);
    rows.last_seq.pushWords(this.lastSeqLow, this.lastSeqHigh);
    rows.first_ts_ns.pushWords(...this.firstTs);
    rows.last_ts_ns.pushWords(this.lastTsLow, this.lastTsHigh);
    rows.events.push(this.events);
    rows.duplicates.push(this.duplicates);
  }

  private isCarry(seqLow: number, seqHigh: number): boolean {
    return seqLow === 0 && this.lastSeqLow === two32 - 1 && seqHigh === this.lastSeqHigh + 1;
  }
}
