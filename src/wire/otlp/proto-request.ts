// A request in protobuf, cut into pieces that hold its records. Only where each record begins and ends is looked at.

import { atOnce } from "#base/turns.ts";
import type { Fault } from "#model/fault.ts";
import { toRefusal } from "./decode.ts";
import { type FoundRecord, gatherPieces, recordsMax, toUnread } from "./request-pieces.ts";
import type { Signal } from "./schema.ts";
import { findTrouble, isItem, listsOf, pauseFields, Rejected, readerAt } from "./walk.ts";

export class ProtobufRequest {
  private readonly found: Rejected;
  private readonly signal: Signal;
  private readonly bytes: Uint8Array;
  private records = 0;
  private unreadAt = -1;
  private readonly recordsMax: number;

  constructor(signal: Signal, bytes: Uint8Array, limits: { readonly recordsMax: number } = { recordsMax }) {
    this.signal = signal;
    this.bytes = bytes;
    this.found = new Rejected(bytes);
    this.recordsMax = limits.recordsMax;
  }

  /** The number of lists that cannot be read, plus the records beyond those that a body may have. */
  get rejected(): number {
    return this.found.count + this.left;
  }

  /** Complete when the pieces have been taken. Bad records in them are not found here. */
  get faults(): Fault[] {
    const { faults } = this.found;
    return this.left > 0 ? [...faults, toUnread(this.bytes, this.unreadAt, this.left)] : faults;
  }

  private get left(): number {
    return Math.max(0, this.records - this.recordsMax);
  }

  /** Why the bytes are not a request; null when they are one, even if its lists are bad. */
  refusal(): Fault | null {
    return atOnce(this.refusalInSteps());
  }

  *refusalInSteps(): Generator<void, Fault | null> {
    const trouble = yield* findTrouble(this.bytes);
    return trouble < 0 ? null : toRefusal(this.signal, this.bytes, trouble);
  }

  /** Cuts it into requests of about this size; a null is a pause. A request that is not larger is given as it is. */
  *pieces(pieceBytesMax: number): Generator<Uint8Array | null> {
    if (this.bytes.length <= pieceBytesMax) yield this.bytes;
    else yield* gatherPieces(this.allRecords(), pieceBytesMax);
  }

  private *allRecords(): Generator<FoundRecord> {
    for (const list of listsOf(this.bytes, this.found)) {
      if (list === null) {
        yield null;
        continue;
      }
      const reader = readerAt(this.bytes, list.from);
      for (let passed = 1; reader.next(list.to); passed++) {
        if (passed % pauseFields === 0) yield null;
        if (!isItem(reader)) continue;
        if (++this.records <= this.recordsMax)
          yield { origin: list.origin, record: this.bytes.subarray(reader.from, reader.to) };
        else if (this.unreadAt < 0) this.unreadAt = reader.start;
      }
    }
  }
}
