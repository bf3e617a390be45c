// Where in time components lie that are stored and not in memory. Grouping looks for components of the same process
// near in time, so whoever comes near such an hour has the store asked first, once for each process and hour.

import { type Component, isOnlyRootMarks } from "./component.ts";
import { processKeys } from "./component-set.ts";
import { hourOf } from "./row-ids.ts";

/** What is near: components of these sources, in this time, that share a process or have none. */
export interface NearQuestion {
  readonly sources: readonly string[];
  readonly processes: readonly string[];
  /** Components of any process are meant. */
  readonly anyProcess: boolean;
  readonly fromNs: bigint;
  readonly toNs: bigint;
}

type Facts = Pick<Component, "sources" | "processes" | "firstNs" | "lastNs" | "spans" | "unresolved">;

interface Covered {
  from: number;
  to: number;
}

const askedMax = 100_000;
/** A component of longer is treated as if it were everywhere. */
const hoursMax = 24 * 365;

export class AwayComponents {
  /** Null when any hour may have one. */
  private hours: Set<number> | null;
  /** What was asked and is in memory since, by source and process. */
  private readonly asked = new Map<string, Covered>();

  constructor(isFresh: boolean) {
    this.hours = isFresh ? new Set() : null;
  }

  get isEmpty(): boolean {
    return this.hours?.size === 0;
  }

  /** The hours that stored components lie in: read at start. */
  warm(hours: Iterable<number>): void {
    this.hours = new Set(hours);
  }

  /** A component that memory lets go. */
  add(component: Component): void {
    for (const key of processKeys(component)) this.asked.delete(key);
    for (const source of component.sources) for (const which of ["", anyone]) this.asked.delete(`${source}\n${which}`);
    const from = hourOf(component.firstNs);
    const to = hourOf(component.lastNs);
    if (to - from > hoursMax) this.hours = null;
    for (let hour = from; this.hours !== null && hour <= to; hour++) this.hours.add(hour);
  }

  /** What must be asked before the session of a component with these facts can be told; null when nothing. */
  questionFor(facts: Facts, gapNs: bigint): NearQuestion | null {
    if (this.isEmpty || facts.firstNs > facts.lastNs) return null;
    const fromNs = facts.firstNs - gapNs * 6n;
    const toNs = facts.lastNs + gapNs * 6n;
    const from = hourOf(fromNs);
    const to = hourOf(toNs);
    const keys = keysOf(facts);
    if (keys.every((key) => isCovered(this.asked.get(key), from, to)) || !this.hasAny(from, to)) return null;
    return {
      sources: [...facts.sources],
      processes: [...facts.processes],
      anyProcess: isOnlyRootMarks(facts as Component),
      fromNs,
      toNs,
    };
  }

  /** The answer to a question is in memory. */
  cover(facts: Facts, { fromNs, toNs }: NearQuestion): void {
    const [from, to] = [hourOf(fromNs), hourOf(toNs)];
    if (this.asked.size > askedMax) this.asked.clear();
    for (const key of keysOf(facts)) {
      const known = this.asked.get(key);
      // Two times far apart leave a gap between them that nobody asked about.
      if (known !== undefined && from <= known.to + 1 && to >= known.from - 1)
        this.asked.set(key, { from: Math.min(from, known.from), to: Math.max(to, known.to) });
      else this.asked.set(key, { from, to });
    }
  }

  private hasAny(from: number, to: number): boolean {
    const { hours } = this;
    if (hours === null) return true;
    if (to - from > hours.size) return [...hours].some((hour) => hour >= from && hour <= to);
    for (let hour = from; hour <= to; hour++) if (hours.has(hour)) return true;
    return false;
  }
}

const anyone = "*";

/** Marks outside every session are looked for by their source alone. */
function keysOf(facts: Facts): string[] {
  const which = isOnlyRootMarks(facts as Component) ? anyone : "";
  return [...processKeys(facts), ...[...facts.sources].map((source) => `${source}\n${which}`)];
}

function isCovered(covered: Covered | undefined, from: number, to: number): boolean {
  return covered !== undefined && covered.from <= from && covered.to >= to;
}
