// Which components are stored and not in memory, and where in time they lie. Grouping looks for components of the same
// process near in time, so whoever comes near one has the store asked first, once for each process and hour. They are
// listed by source and process, so that a process that none of them knows costs no question; of the many that were
// stored long ago only the hours are known.

import type { SenderNs } from "#base/clock.ts";
import { type Component, isOnlyRootMarks } from "./component.ts";
import { processKeys } from "./component-set.ts";
import { hourOf } from "./row-ids.ts";

/** What is near: components of these sources, in this time, that share a process or have none. */
export interface NearQuestion {
  readonly sources: readonly string[];
  readonly processes: readonly string[];
  /** Components of any process are meant. */
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
/** So many sources and processes are listed; then their hours have to do. */
const listedMax = 100_000;
/** A component of longer is treated as if it were everywhere. */
const hoursMax = 24 * 365;

export class AwayComponents {
  /** The hours of components that are not listed; null when any hour may have one. */
  private hours: Set<number> | null;
  /** Where those lie that are listed, by source and process. */
  private readonly listed = new Map<string, HourRange>();
  /** What was asked and is in memory since, by source and process. */
  private readonly asked = new Map<string, HourRange>();

  constructor(isFresh: boolean) {
    this.hours = isFresh ? new Set() : null;
  }

  get isEmpty(): boolean {
    return this.hours?.size === 0 && this.listed.size === 0;
  }

  /** What is stored, read at start: components of late, and the hours of the others. */
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

  /** What must be asked before the session of a component with these facts can be told; null when nothing. */
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
      // Two times far apart leave a gap between them that nobody asked about.
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

/** By what a component is found: its processes, by its source alone when it has no spans, and by marks outside every session. */
function keysToFind(component: AwayComponent): string[] {
  const alone = [...component.sources].flatMap((source) => [
    `${source}\n${anyone}`,
    ...(component.spans === 0 ? [`${source}\n${noSpans}`] : []),
  ]);
  return [...processKeys(component), ...alone];
}

/** By what its neighbours are looked for. Marks outside every session are looked for by their source alone. */
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
