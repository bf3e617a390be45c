// What intake asks of the inputs of every protocol: each kind of input has its own pure decoder, and the decoded value knows
// how it is applied.

import type { JsonLimits } from "#base/json/value.ts";
import { inTurns } from "#base/turns.ts";
import type { Applied } from "./applied.ts";
import type { Arrival, Input } from "./input.ts";
import type { IntakeState } from "./intake-state.ts";

export interface InputKind<I extends Input = Input> {
  /** Its name in the journal. It is stored, so it never changes. */
  readonly kind: I["kind"];
  /** Pure: the same bytes give the same rows in every process, at any time. In steps where there may be much to decode. */
  decode(input: I, limits: DecodeLimits): Decoded | Generator<void, Decoded>;
  /** Prepares what the first input would otherwise wait for. */
  warm?(): Generator<void, void>;
}

/** Prepares what the first inputs would otherwise wait for, in turns with other work. */
export async function warmKinds(kinds: readonly InputKind[]): Promise<void> {
  for (const kind of kinds) if (kind.warm !== undefined) await inTurns(kind.warm());
}

export interface DecodeLimits {
  readonly json: JsonLimits;
  /** The longest line of a trace stream. */
  readonly lineBytesMax: number;
  /** More names of attributes that hold a step. */
  readonly stepNames?: readonly string[];
}

/** A decoded input. `arrival` is the input's own, plus `copyOf` if the input was put off. */
export interface Decoded {
  /** Reads from the store what is needed and memory has dropped; null when that is nothing. May be called again. */
  prepare(state: IntakeState, arrival: Arrival): Promise<void> | null;
  /** Notes in the state what `prepare` would read, so that it is read together with what other inputs need. */
  foresee?(state: IntakeState, arrival: Arrival): void;
  /**
   * Changes the state and hands over the rows. Called once, and only right after `prepare` returned null. In steps where there
   * may be many rows; nothing else may change the state between them.
   */
  apply(state: IntakeState, arrival: Arrival, position: number): Applied | Generator<void, Applied>;
  /** Gives its memory back. Called instead of `apply` when the input will be decoded again. */
  release?(): void;
  /** It takes so long that other work gets turns between the steps. */
  readonly isLong?: boolean;
}
