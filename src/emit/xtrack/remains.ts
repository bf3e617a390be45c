// What becomes of events that have not arrived when a run or its process ends: a last try if there is time for one,
// then a file that can be imported later, and a line that says so. In any case they are counted.

import { say, toReason } from "#emit/say.ts";
import { sendLastWords, toTimeLeftMs } from "./last-words.ts";
import type { Link } from "./link.ts";
import { describe } from "./open-transport.ts";
import type { Outbox, Unsent } from "./outbox.ts";
import type { TransportChoice } from "./settings.ts";
import { writeSpool } from "./spool.ts";

export interface RemainsOptions {
  readonly choice: TransportChoice;
  readonly apiKey: string;
  readonly greeting: Uint8Array | null;
  readonly runId: string;
  readonly wid: string;
  /** Where files are kept; null for nowhere. */
  readonly folder: string | null;
  readonly link: Link;
  readonly outbox: Outbox;
}

export class Remains {
  /** Events that are kept in a file. */
  spooled = 0;
  /** Events that are nowhere. */
  lost = 0;
  private readonly options: RemainsOptions;

  constructor(options: RemainsOptions) {
    this.options = options;
  }

  /** For the exit of the process: blocks for two seconds at most. */
  rescue(): void {
    const { link, outbox } = this.options;
    const rest = outbox.takeRest();
    const mayArrive = rest.length > 0 && link.accepts.includes("ack") && !link.isAway;
    if (mayArrive && this.sendNow(rest)) outbox.confirmed += rest.length;
    else this.put(rest);
    this.tellDropped();
  }

  /** For the end of a run whose events did not arrive in time. */
  keep(): void {
    this.put(this.options.outbox.takeRest());
    this.tellDropped();
  }

  private sendNow(rest: readonly Unsent[]): boolean {
    const { choice, apiKey, greeting, runId, wid } = this.options;
    const ends: number[] = [];
    for (const { frame } of rest) ends.push((ends.at(-1) ?? 0) + frame.length);
    return sendLastWords({
      choice,
      apiKey,
      greeting,
      runId,
      wid,
      runStart: this.startFor(rest),
      frames: Buffer.concat(rest.map(({ frame }) => frame)),
      seqs: rest.map(({ seq }) => seq),
      ends,
      timeoutMs: toTimeLeftMs(),
    });
  }

  private put(rest: readonly Unsent[]): void {
    if (rest.length === 0) return;
    const { choice, runId, folder } = this.options;
    const missed = `${rest.length} events of run ${runId} did not reach ${describe(choice)}`;
    try {
      if (folder === null) throw new Error("there is no spool folder");
      const frames = rest.map(({ frame }) => frame);
      const { path, events, cause } = writeSpool(folder, this.startFor(rest), frames);
      const others = rest.length - events;
      this.spooled += events;
      this.lost += others;
      const where = `${others === 0 ? "They" : `The first ${events}`} are in ${path}; take them in with: tributary import ${folder}`;
      say(`${missed}. ${where}${others === 0 ? "" : `. The other ${others} are lost (${toReason(cause)})`}`);
    } catch (error) {
      this.lost += rest.length;
      say(`${missed} and are lost (${toReason(error)})`);
    }
  }

  private startFor(rest: readonly Unsent[]): Uint8Array | null {
    return rest[0]?.seq === 1 ? null : this.options.link.runStart;
  }

  private tellDropped(): void {
    const { choice, runId, outbox } = this.options;
    const { dropped } = outbox.counts;
    if (dropped > 0)
      say(`${dropped} events of run ${runId} were dropped: more waited for ${describe(choice)} than the buffer holds`);
  }
}
