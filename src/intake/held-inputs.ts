// Inputs that are durable and wait to be applied. Up to a limit they are held decoded in memory. Of the rest only the means to
// answer is held, and they are read back from the journal.

import type { Input } from "./input.ts";
import type { Decoded } from "./input-kind.ts";
import type { Receipt } from "./sequencer.ts";

export interface Waiting {
  readonly position: number;
  readonly input: Input;
  readonly settle: (receipt: Receipt) => void;
  /** How often it was put off. */
  readonly delays: number;
}

export interface Entry extends Waiting {
  readonly decoded: Decoded;
}

/** The limit, in bytes of input. */
const heldBytesMax = 16 * 1024 * 1024;

export class HeldInputs {
  bytes = 0;
  private readonly entries = new Map<number, Entry>();
  /** For inputs that will be read back from the journal. */
  private readonly unanswered = new Map<number, Pick<Entry, "settle" | "delays">>();

  has(position: number): boolean {
    return this.entries.has(position);
  }

  hold(entry: Entry): void {
    const size = entry.input.body.length;
    if (this.bytes + size > heldBytesMax && this.entries.size > 0) {
      // Nothing else of the entry, which would otherwise stay in memory until then.
      this.unanswered.set(entry.position, { settle: entry.settle, delays: entry.delays });
      return;
    }
    this.bytes += size;
    this.entries.set(entry.position, entry);
  }

  take(position: number): Entry | undefined {
    const entry = this.entries.get(position);
    if (entry === undefined) return undefined;
    this.entries.delete(position);
    this.bytes -= entry.input.body.length;
    return entry;
  }

  takeUnanswered(position: number): Pick<Entry, "settle" | "delays"> {
    const answer = this.unanswered.get(position);
    this.unanswered.delete(position);
    return answer ?? { settle: ignore, delays: 0 };
  }
}

function ignore(): void {}
