// Inputs that are durable and wait to be applied. Up to a limit they are held decoded in memory. Of the rest only the means to
// answer is held, and they are read back from the journal.

import type { Input } from "./input.ts";
import type { Decoded } from "./input-kind.ts";
import type { Receipt } from "./sequencer.ts";

export interface Waiting {
  readonly position: number;
  readonly input: Input;
  readonly settle: (receipt: Receipt) => void;
  /** Called when nobody looks at the input's bytes any more. */
  readonly letGo: () => void;
  /** How often it was put off. */
  readonly delays: number;
}

export interface Entry extends Waiting {
  readonly decoded: Decoded;
}

type Unanswered = Pick<Entry, "settle" | "letGo" | "delays">;

/** The limit, in bytes of input. */
const heldBytesMax = 16 * 1024 * 1024;

export class HeldInputs {
  bytes = 0;
  private readonly entries = new Map<number, Entry>();
  /** For inputs that will be read back from the journal. */
  private readonly unanswered = new Map<number, Unanswered>();

  has(position: number): boolean {
    return this.entries.has(position);
  }

  /** Whether so many more bytes would be held decoded. */
  hasRoom(bytes: number): boolean {
    return this.entries.size === 0 || this.bytes + bytes <= heldBytesMax;
  }

  /** What was not decoded is not held. */
  hold({ decoded, ...waiting }: Waiting & { readonly decoded: Decoded | null }): void {
    const { position, input, settle, letGo, delays } = waiting;
    if (decoded === null || !this.hasRoom(input.body.length)) {
      // Nothing else of the entry, which would otherwise stay in memory until then.
      this.unanswered.set(position, { settle, letGo: ignore, delays });
      decoded?.release?.();
      letGo();
      return;
    }
    this.bytes += input.body.length;
    this.entries.set(position, { ...waiting, decoded });
  }

  take(position: number): Entry | undefined {
    const entry = this.entries.get(position);
    if (entry === undefined) return undefined;
    this.entries.delete(position);
    this.bytes -= entry.input.body.length;
    return entry;
  }

  takeUnanswered(position: number): Unanswered {
    const answer = this.unanswered.get(position);
    this.unanswered.delete(position);
    return answer ?? { settle: ignore, letGo: ignore, delays: 0 };
  }
}

function ignore(): void {}
