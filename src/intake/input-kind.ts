// How the inputs of every protocol meet intake: a kind of input is decoded by itself, purely, and what it was decoded to
// knows how it is applied.

import type { JsonLimits } from "#base/json/value.ts";
import { inTurns } from "#base/turns.ts";
import type { Applied } from "./applied.ts";
import type { Arrival, Input } from "./input.ts";
import type { IntakeState } from "./intake-state.ts";

export interface InputKind<I extends Input = Input> {
  /** What the journal calls it: stored, so it never changes. */
  readonly kind: I["kind"];
  /** Pure: the same bytes give the same rows, whichever process decodes them and whenever. In steps where there may be much. */
  decode(input: I, limits: DecodeLimits): Decoded | Generator<void, Decoded>;
  /** Makes ready what the first input would else wait for. */
  warm?(): Generator<void, void>;
}

/** Makes ready what the first inputs would else wait for, while others have their turns. */
export async function warmKinds(kinds: readonly InputKind[]): Promise<void> {
  for (const kind of kinds) if (kind.warm !== undefined) await inTurns(kind.warm());
}

export interface DecodeLimits {
  readonly json: JsonLimits;
  /** The longest line of a trace stream. */
  readonly lineBytesMax: number;
  /** Names of attributes that say a step, beside those that are known. */
  readonly stepNames?: readonly string[];
}

/** What an input says. `arrival` is the input's own, with what was added on the way: the record that it is a copy of. */
export interface Decoded {
  /** Reads from the store what is needed and memory has dropped; null when that is nothing. May be asked again. */
  prepare(state: IntakeState, arrival: Arrival): Promise<void> | null;
  /** Notes in the state what `prepare` would read, so that it is read with what others need. */
  foresee?(state: IntakeState, arrival: Arrival): void;
  /**
   * Changes the state and hands over the rows: once, and only right after `prepare` gave null. In steps where there may be
   * many; nothing else may change the state between them.
   */
  apply(state: IntakeState, arrival: Arrival, position: number): Applied | Generator<void, Applied>;
  /** It takes so long that others have their turns between the steps. */
  readonly isLong?: boolean;
}
