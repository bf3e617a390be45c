// Acks that wait to be sent. They pile up when a worker does not read, so they wait as ranges of sequence numbers, a
// few words for a million of them, and become frames only when there is room for their bytes.

import type { RunId, WorkerId } from "#model/names.ts";
import type { EventOutcome } from "./ports.ts";

interface Run {
  /** `,"run_id":…,"wid":…` as in the frame. */
  readonly names: string;
  readonly runId: RunId;
  readonly wid: WorkerId;
  next: number | bigint;
  last: number | bigint;
  readonly error: string | null;
}

/** Longer ids are left out of an ack, so that nobody makes the server send long names over and over. */
const nameCharsMax = 512;
const errorCharsMax = 500;
/** An upper bound for an ack: fixed words, three numbers, the longest names and error, in bytes. */
const ackBytesMax = 512 + 3 * 6 * (2 * nameCharsMax + errorCharsMax);

/** Shared by all queues: frames are written here, then copied out. */
let scratch = Buffer.alloc(0);

export class AckQueue {
  private runs: Run[] = [];
  private readonly runsMax: number;

  constructor(runsMax: number) {
    this.runsMax = runsMax;
  }

  get isEmpty(): boolean {
    return this.runs.length === 0;
  }

  /** False when too many ranges wait: the ack is dropped, and the worker will send the event again. */
  push({ runId, wid, seq, error }: EventOutcome): boolean {
    const last = this.runs.at(-1);
    if (last !== undefined && error === null && last.error === null && follows(last.last, seq)) {
      if (last.runId === runId && last.wid === wid) {
        last.last = seq;
        return true;
      }
    }
    if (this.runs.length >= this.runsMax) return false;
    const names = last !== undefined && last.runId === runId && last.wid === wid ? last.names : formatNames(runId, wid);
    this.runs.push({ names, runId, wid, next: seq, last: seq, error: error?.slice(0, errorCharsMax) ?? null });
    return true;
  }

  /** Encodes acks until there are `bytesMax` bytes or no more acks. `firstSeq` is the `m.seq` of the first. */
  take(bytesMax: number, firstSeq: number, tsUs: number): { readonly bytes: Uint8Array; readonly count: number } {
    if (scratch.length < bytesMax + ackBytesMax) scratch = Buffer.allocUnsafeSlow(bytesMax + ackBytesMax);
    let at = 0;
    let count = 0;
    let done = 0;
    while (done < this.runs.length && at < bytesMax) {
      const run = this.runs[done] as Run;
      const json = formatAck(run, firstSeq + count, tsUs);
      const size = scratch.write(json, at + 4);
      scratch.writeUInt32BE(size, at);
      at += 4 + size;
      count++;
      if (run.next === run.last) done++;
      else run.next = successor(run.next);
    }
    this.runs = this.runs.slice(done);
    return { bytes: Buffer.from(scratch.subarray(0, at)), count };
  }
}

function follows(last: number | bigint, seq: number | bigint): boolean {
  return typeof last === typeof seq && successor(last) === seq;
}

function successor(seq: number | bigint): number | bigint {
  return typeof seq === "bigint" ? seq + 1n : seq + 1;
}

function formatNames(runId: RunId, wid: WorkerId): string {
  const run = runId.length > nameCharsMax ? "" : `,"run_id":${JSON.stringify(runId)}`;
  const worker = wid === "" || wid.length > nameCharsMax ? "" : `,"wid":${JSON.stringify(wid)}`;
  return run + worker;
}

function formatAck({ next, names, error }: Run, seq: number, tsUs: number): string {
  const outcome = error === null ? '"ok","error":null' : `"error","error":${JSON.stringify(error)}`;
  return `{"v":1,"t":"ack","m":{"seq":${seq},"ts":${tsUs}},"p":{"seq":${next},"status":${outcome}${names}}}`;
}
