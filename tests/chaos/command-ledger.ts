// Which commands were given, which were accepted, and which of them the worker heard, kept outside of the server.

import type { Wrong } from "./ledger.ts";
import type { Victim } from "./victim.ts";

/** A command as the server lists it. */
export interface ListedCommand {
  readonly id: string;
  readonly payload: string;
  readonly state: string;
  readonly note: string;
}

interface Accepted {
  readonly number: number;
  readonly atMs: number;
}

/** A command that is open while the clock jumps over its ten minutes has expired; this is far longer than any is open. */
const openMs = 120_000;

export class CommandLedger {
  private readonly victim: Victim;
  private readonly given = new Set<number>();
  private readonly accepted = new Map<string, Accepted>();
  /** What was heard of each: its number, and how often the server had been killed before, each time. */
  private readonly heard = new Map<string, { readonly number: number; readonly kills: number[] }>();
  private readonly forgiven = new Set<string>();
  /** Nobody gives any more. */
  isOver = false;

  constructor(victim: Victim) {
    this.victim = victim;
  }

  give(number: number): void {
    this.given.add(number);
  }

  accept(id: string, number: number): void {
    this.accepted.set(id, { number, atMs: performance.now() });
  }

  /** `kills`: how often the server had been killed when the line was opened that it came by. */
  hear(id: string, number: number, kills: number): void {
    const known = this.heard.get(id);
    if (known === undefined) this.heard.set(id, { number, kills: [kills] });
    else known.kills.push(kills);
  }

  /** The worker's answer was damaged. */
  mayLose(id: string): void {
    this.forgiven.add(id);
  }

  /** The worker may leave: all that was accepted was heard, and there will be no more. */
  get isAllHeard(): boolean {
    return this.isOver && [...this.accepted.keys()].every((id) => this.heard.has(id));
  }

  /** Whether everything that was accepted has come to its end. */
  isSettled(listed: readonly ListedCommand[]): boolean {
    const ended = new Set(
      listed.filter(({ state }) => state !== "queued" && state !== "delivered").map(({ id }) => id),
    );
    return [...this.accepted.keys()].every((id) => ended.has(id) || this.forgiven.has(id));
  }

  /** Adds what is wrong to the verdict. */
  judge(listed: readonly ListedCommand[], verdict: Wrong): void {
    const states = new Map(listed.map((command) => [command.id, command]));
    for (const [id, { number, atMs }] of this.accepted) {
      const { state = "gone", note = "" } = states.get(id) ?? {};
      const mayExpire = this.victim.jumps.some((jumpMs) => Math.abs(jumpMs - atMs) < openMs);
      if (state === "expired" && mayExpire) continue;
      const isDone = state === "confirmed" || this.forgiven.has(id);
      if (!this.heard.has(id) || !isDone) verdict.lost.push(`command ${number} ${id}: ${state} ${note}`);
    }
    const numbers = new Set<number>();
    for (const { id, payload } of listed) {
      const { number } = JSON.parse(payload) as { number: number };
      if (!this.given.has(number)) verdict.invented.push(`command ${id}: ${payload}`);
      // However often it was given, it is one command.
      if (numbers.has(number)) verdict.doubled.push(`command ${number}: ${id} is another`);
      numbers.add(number);
    }
    for (const [id, { number, kills }] of this.heard) {
      if (!this.given.has(number)) verdict.invented.push(`command ${id}: heard ${number}`);
      if (number !== (this.accepted.get(id)?.number ?? number)) verdict.altered.push(`command ${id}: heard ${number}`);
      // Only a kill between the bytes and the word that they have left lets a server hand a command over again.
      if (new Set(kills).size < kills.length) verdict.doubled.push(`command ${number} ${id}: heard at kills ${kills}`);
    }
  }

  /** How many were accepted, and how many of those that were heard came again, with the same id, after a kill. */
  counts(): { readonly accepted: number; readonly again: number } {
    const again = [...this.heard.values()].reduce((sum, { kills }) => sum + kills.length - 1, 0);
    return { accepted: this.accepted.size, again };
  }
}
