// Which components are stored and not in memory, and where in time they lie. Grouping looks for components of the same
// process that are near in time, so the store is asked before a batch near such a component is applied, once for each process
// and hour. The components are listed by source and process, so that an unknown process costs no question; of the many that
// were stored long ago only the hours are known.

import type { SenderNs } from "#base/clock.ts";
import { type Component, isOnlyRootMarks } from "./component.ts";
import { processKeys } from "./component-set.ts";
import { hourOf } from "./row-ids.ts";

/** Asks for components of these sources, in this time, that share a process or have none. */
export interface NearQuestion {
  readonly sources: readonly string[];
  readonly processes: readonly string[];
  /** Components of any process count. */
  readonly anyProcess: boolean;
  readonly fromNs: SenderNs;
  readonly toNs: SenderNs;
}

type Facts = Pick<Component, "sources" | "processes" | "firstNs" | "lastNs" | "spans" | "unresolved">;

/** What is known of a component that is not in memory. */
export interface AwayComponent {
  readonly sources: Iterable<string>;
  readonly processes: Iterable<string>;
  readonly spans: number;
  readonly firstNs: SenderNs;
  readonly lastNs: SenderNs;
}

/** Hours, both ends included. */
interface HourRange {
  from: number;
  to: number;
}

const askedMax = 100_000;
/** Up to this many pairs of source and process are listed; beyond that only their hours are kept. */
const listedMax = 100_000;
/** A longer component is treated as if it covered all hours. */
const hoursMax = 24 * 365;

export class AwayComponents {
  /** The hours of components that are not listed; null when any hour may have one. */
  private hours: Set<number> | null;
  /** The hours of listed components, by source and process. */
  private readonly listed = new Map<string, HourRange>();
  /** The hours that were asked for, and whose components are in memory, by source and process. */
  private readonly asked = new Map<string, HourRange>();

  constructor(isFresh: boolean) {
    this.hours = isFresh ? new Set() : null;
  }

  get isEmpty(): boolean {
    return this.hours?.size === 0 && this.listed.size === 0;
  }

  /** What is stored, as read at start: recent components, and the hours of the others. */
  warm(components: Iterable<AwayComponent>, otherHours: Iterable<number>): void {
    this.hours = new Set(otherHours);
    for (const component of components) this.list(component, keysToFind(component));
  }

  /** A component that memory drops. */
  add(component: AwayComponent): void {
    const keys = keysToFind(component);
    for (const key of keys) this.asked.delete(key);
    this.list(component, keys);
  }

  /** What must be asked before the session of a component with these facts is known; null when nothing. */
  questionFor(facts: Facts, gapNs: bigint): NearQuestion | null {
    if (this.isEmpty || facts.firstNs > facts.lastNs) return null;
    const fromNs = facts.firstNs - gapNs * 6n;
    const toNs = facts.lastNs + gapNs * 6n;
    const from = hourOf(fromNs);
    const to = hourOf(toNs);
    const mayBeUnlisted = this.hasUnlisted(from, to);
    const mustAsk = (key: string): boolean =>
      !isWithin(this.asked.get(key), from, to) && (mayBeUnlisted || overlaps(this.listed.get(key), from, to));
    if (!keysOf(facts).some(mustAsk)) return null;
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
      // Ranges far apart are not merged: nobody asked about the gap between them.
      if (known !== undefined && from <= known.to + 1 && to >= known.from - 1)
        this.asked.set(key, { from: Math.min(from, known.from), to: Math.max(to, known.to) });
      else this.asked.set(key, { from, to });
    }
  }

  private hasUnlisted(from: number, to: number): boolean {
    const { hours } = this;
    if (hours === null) return true;
    if (to - from > hours.size) return [...hours].some((hour) => hour >= from && hour <= to);
    for (let hour = from; hour <= to; hour++) if (hours.has(hour)) return true;
    return false;
  }

  private list({ firstNs, lastNs }: AwayComponent, keys: readonly string[]): void {
    for (const key of keys) widen(this.listed, key, hourOf(firstNs), hourOf(lastNs));
    if (this.listed.size > listedMax) this.keepHoursOnly();
  }

  private keepHoursOnly(): void {
    for (const { from, to } of this.listed.values()) {
      if (to - from > hoursMax) this.hours = null;
      for (let hour = from; this.hours !== null && hour <= to; hour++) this.hours.add(hour);
    }
    this.listed.clear();
  }
}

const anyone = "*";
const noSpans = "";

/** The keys by which a component is found: its processes, and its source for marks outside every session or when it has no spans. */
function keysToFind(component: AwayComponent): string[] {
  const alone = [...component.sources].flatMap((source) => [
    `${source}\n${anyone}`,
    ...(component.spans === 0 ? [`${source}\n${noSpans}`] : []),
  ]);
  return [...processKeys(component), ...alone];
}

/** The keys by which its neighbours are looked for. Marks outside every session are found by their source alone. */
function keysOf(facts: Facts): string[] {
  const which = isOnlyRootMarks(facts as Component) ? anyone : noSpans;
  return [...processKeys(facts), ...[...facts.sources].map((source) => `${source}\n${which}`)];
}

function widen(ranges: Map<string, HourRange>, key: string, from: number, to: number): void {
  const known = ranges.get(key);
  if (known === undefined) {
    ranges.set(key, { from, to });
    return;
  }
  known.from = Math.min(known.from, from);
  known.to = Math.max(known.to, to);
}

function isWithin(range: HourRange | undefined, from: number, to: number): boolean {
  return range !== undefined && range.from <= from && range.to >= to;
}

function overlaps(range: HourRange | undefined, from: number, to: number): boolean {
  return range !== undefined && range.from <= to && range.to >= from;
}
