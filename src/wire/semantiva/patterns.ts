// The lines that were judged lately, as patterns for those to come. A pipeline that runs a thousand times writes the same
// lines a thousand times, but for ids, times, digests and values, and in the same order.

import type { JsonLimits } from "#base/json/value.ts";
import type { Message } from "./decode.ts";
import { allowAnyText, findFreeLeaves, leafKind, rulesOfMember } from "./free-leaves.ts";
import { leavesMax, Pattern } from "./pattern.ts";
import type { Registry } from "./registry.ts";

const patternsMax = 32;
/** Longer lines are judged one by one: to keep them would take too much memory. */
const patternBytesMax = 16 * 1024;

// Lines that are never alike are not worth comparing and learning. Each match earns credit for some misses; once the
// credit is used up, only about one line in a hundred is tried.
const creditMax = 1024;
const missCost = 8;
const creditOfUntried = missCost / 128;

export class Patterns {
  private readonly registry: Registry;
  private readonly places: Pattern[] = [];
  private last: Pattern | undefined;
  private oldest = 0;
  private credit = creditMax / 2;
  private isWorthIt = true;

  constructor(registry: Registry) {
    this.registry = registry;
  }

  /** What judging the line would give; undefined when it is like none that was judged. */
  find(bytes: Uint8Array, view: DataView, from: number, to: number): Message | undefined {
    this.isWorthIt = this.credit >= missCost && to - from <= patternBytesMax;
    if (!this.isWorthIt) {
      this.credit += creditOfUntried;
      return undefined;
    }
    const guess = this.last?.next ?? -1;
    const guessed = this.places[guess]?.read(bytes, view, from, to);
    if (guessed !== undefined) return this.follow(guess, guessed);
    for (let place = 0; place < this.places.length; place++) {
      const message = place === guess ? undefined : (this.places[place] as Pattern).read(bytes, view, from, to);
      if (message !== undefined) return this.follow(place, message);
    }
    this.credit -= missCost;
    return undefined;
  }

  /** Learns from a line that was looked for just now, was like none, and was judged to be this. */
  learn(line: Uint8Array, message: Message): void {
    if (!this.isWorthIt || !message.known || message.oddities !== 0) return;
    const { header, record, runIdAt } = this.registry.rulesOf(message.type);
    // Where a record's run id is taken for the header's, it keeps the header's rules as well.
    if (!allowAnyText(rulesOfMember([header], "run_id"))) return;
    const leaves = findFreeLeaves(line, [header, record]);
    const runIdLeaf = leaves.findIndex(({ kind, path }) => kind === leafKind.text && `/${path.join("/")}` === runIdAt);
    if (runIdLeaf < 0 || leaves.length > leavesMax) return;
    const place = this.places.length < patternsMax ? this.places.length : this.oldest++ % patternsMax;
    this.places[place] = new Pattern(line, message, leaves, runIdLeaf);
    this.follow(place, message);
  }

  private follow(place: number, message: Message): Message {
    if (this.last !== undefined) this.last.next = place;
    this.last = this.places[place];
    if (this.credit < creditMax) this.credit++;
    return message;
  }
}

const memories = new WeakMap<Registry, { readonly limits: JsonLimits | undefined; readonly patterns: Patterns }>();

/** Those of lines that were judged by this registry and read within these limits. */
export function patternsOf(registry: Registry, limits: JsonLimits | undefined): Patterns {
  let memory = memories.get(registry);
  if (memory === undefined || memory.limits !== limits) {
    memory = { limits, patterns: new Patterns(registry) };
    memories.set(registry, memory);
  }
  return memory.patterns;
}
