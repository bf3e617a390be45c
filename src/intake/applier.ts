// Applies the inputs of all protocols: an input's kind decides who decodes it, and the decoded value knows how it becomes
// rows. The state made of identities, groups and aliases is here and nowhere else; it changes only by `apply`, in the order of
// the journal.

import { nowNs } from "#base/clock.ts";
import { atOnce, inTurns } from "#base/turns.ts";
import type { StateChange } from "#model/state-tables.ts";
import type { Applied } from "./applied.ts";
import type { Input } from "./input.ts";
import type { Decoded, DecodeLimits, InputKind } from "./input-kind.ts";
import { IntakeState, type IntakeStateOptions, type ShrinkTo } from "./intake-state.ts";
import type { JoinRow } from "./joins.ts";
import type { Applier } from "./sequencer.ts";

export interface ApplierOptions extends IntakeStateOptions {
  /** Every kind of input that the journal may hold. */
  readonly kinds: readonly InputKind[];
  readonly decodeLimits: DecodeLimits;
  /** This collector's name when others write to the same store. */
  readonly writer?: string;
}

const writtenMax = 100_000;
/** Larger inputs are decoded in turns with other work. */
const bytesAtOnce = 256 * 1024;

export class ProtocolApplier implements Applier {
  state: IntakeState;
  /** On a shared store, the groups that this collector has recently written to. */
  private written = new Set<string>();
  private readonly kinds: ReadonlyMap<string, InputKind>;
  private readonly limits: DecodeLimits;
  private readonly writer: string | undefined;
  private readonly options: IntakeStateOptions;
  /** A record is being applied in turns. */
  private isBusy = false;
  private readonly waiting: (() => void)[] = [];

  constructor(options: ApplierOptions) {
    this.options = options;
    this.kinds = new Map(options.kinds.map((kind) => [kind.kind, kind]));
    this.limits = options.decodeLimits;
    this.writer = options.writer;
    this.state = new IntakeState(options);
  }

  decode(input: Input): Decoded {
    const decoded = this.begin(input);
    return isSteps(decoded) ? atOnce(decoded) : decoded;
  }

  decodeAgain(_position: number, input: Input): Decoded | Promise<Decoded> {
    return this.decodeInTurns(input);
  }

  /** A promise for an input that takes long. */
  decodeInTurns(input: Input): Decoded | Promise<Decoded> {
    if (input.body.length <= bytesAtOnce) return this.decode(input);
    const decoded = this.begin(input);
    return isSteps(decoded) ? inTurns(decoded) : decoded;
  }

  prepare(input: Input, decoded: Decoded): Promise<void> | null {
    return decoded.prepare(this.state, input);
  }

  async foresee(entries: readonly { readonly input: Input; readonly decoded: Decoded }[]): Promise<void> {
    const { state } = this;
    for (const { input, decoded } of entries) decoded.foresee?.(state, input);
    await state.readForeseen();
  }

  apply(position: number, input: Input, decoded: Decoded): Applied {
    const applied = decoded.apply(this.state, input, position);
    return this.tellWriter(isSteps(applied) ? atOnce(applied) : applied, input, position);
  }

  /** Other changes of the state wait until it is done: see `whenIdle`. */
  async applyInTurns(position: number, input: Input, decoded: Decoded): Promise<Applied> {
    this.isBusy = true;
    const steps = decoded.apply(this.state, input, position);
    const applied = this.tellWriter(isSteps(steps) ? await inTurns(steps) : steps, input, position);
    this.endTurns();
    return applied;
  }

  /**
   * Changes the state outside the order of the journal: at once, or after the record that is being applied in turns.
   */
  async whenIdle<T>(change: () => T): Promise<T> {
    if (!this.isBusy) return change();
    return new Promise((resolve, reject) => {
      this.waiting.push(() => {
        try {
          resolve(change());
        } catch (cause) {
          reject(cause);
        }
      });
    });
  }

  private begin(input: Input): Decoded | Generator<void, Decoded> {
    const kind = this.kinds.get(input.kind);
    if (kind === undefined) throw new Error(`Nobody takes inputs of the kind ${JSON.stringify(input.kind)}.`);
    return kind.decode(input, this.limits);
  }

  private endTurns(): void {
    this.isBusy = false;
    for (const change of this.waiting.splice(0)) change();
  }

  private tellWriter(applied: Applied, { receivedNs }: Input, position: number): Applied {
    if (this.writer === undefined) return applied;
    const changes = [
      ...this.noteWritten(applied.parts, this.writer, receivedNs),
      ...toPlaces(applied, this.writer, position),
    ];
    return changes.length === 0 ? applied : { ...applied, state: [...applied.state, ...changes] };
  }

  /** Drops what is stored and beyond the limits. */
  shrink(storedPosition: number, appliedPosition: number, to: ShrinkTo = "limits"): void {
    // It is called again once the record that is being applied is stored.
    if (this.isBusy) return;
    this.state.shrink(storedPosition, appliedPosition, nowNs(), to);
  }

  /**
   * Starts over with an empty memory, as at a start of the server, after a record left it half changed. Everything that was
   * applied must be stored. Work that began with the old memory, such as a question to the store, ends with it.
   */
  renew(joins: readonly JoinRow[]): void {
    const { leaving } = this.state;
    this.written = new Set();
    this.state = new IntakeState({ ...this.options, isFresh: false }, leaving);
    this.state.joins.replace(joins);
    this.endTurns();
  }

  /** The groups were deleted: their records are new when they arrive again. */
  async forget(groupKeys: readonly string[]): Promise<void> {
    for (const key of groupKeys) this.written.delete(key);
    await this.whenIdle(() => this.state.forget(groupKeys));
  }

  /** Forgetting a group here only means that its writer is stored again. */
  private noteWritten(parts: Applied["parts"], collector: string, version: bigint): StateChange[] {
    if (this.written.size > writtenMax) this.written = new Set();
    const keys = new Set<string>();
    for (const { rows } of parts) for (const key of rows.group_key.keys) if (!this.written.has(key)) keys.add(key);
    return [...keys].map((group_key) => {
      this.written.add(group_key);
      return { table: "writers", row: { group_key, collector, version } };
    });
  }
}

function isSteps<T extends object>(made: T | Generator<void, T>): made is Generator<void, T> {
  return Symbol.iterator in made;
}

/** On a shared store: where the rows of a Cirron batch are. */
function toPlaces({ state, accepted }: Applied, collector: string, position: number): StateChange[] {
  if (accepted === 0) return [];
  return state.flatMap((change): StateChange[] => {
    if (change.table !== "cirron_batches") return [];
    const { group_key, batch_id, version } = change.row;
    return [{ table: "batch_places", row: { group_key, batch_id, collector, position: BigInt(position), version } }];
  });
}
