// The ranges of a worker's events whose identities memory has dropped. An event outside all of them is new, and the store need
// not be asked. For an event inside one, the identities in that range are read back from the store first.
//
// Sequence numbers and times are doubles: rounding keeps their order, so nothing that is inside is taken for outside.

/** A span of time whose events are read back together. */
export interface TimeWindow {
  readonly fromNs: number;
  readonly toNs: number;
}

export interface AwayPart extends TimeWindow {
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly events: number;
  /** What to read back when one of them is needed; without it, the part's own times. */
  readonly window?: TimeWindow;
}

/** Neighbours are merged up to this many events: as many as may be read back for a single late one. */
const eventsMax = 131_072;
/** Parts this close to each other are neighbours: a few events may have got lost between them. */
const gapMax = 1024;

export class AwayEvents {
  private parts: AwayPart[] = [];
  private bounds: AwayPart | undefined;

  get isEmpty(): boolean {
    return this.parts.length === 0;
  }

  add(part: AwayPart): void {
    const last = this.parts.at(-1);
    const gap = last === undefined ? -1 : part.firstSeq - last.lastSeq;
    const isNext = gap >= 0 && gap <= gapMax && last?.window === undefined && part.window === undefined;
    if (last !== undefined && isNext && last.events + part.events <= eventsMax)
      this.parts.splice(-1, 1, unite(last, part));
    else this.parts.push(part);
    this.bounds = this.bounds === undefined ? part : unite(this.bounds, part);
  }

  /** What must be read back before it is known whether this event is new. */
  windowOf(seq: number, ts: number): TimeWindow | undefined {
    if (this.bounds === undefined || !isInside(this.bounds, seq, ts)) return undefined;
    const part = this.parts.find((each) => isInside(each, seq, ts));
    return part === undefined ? undefined : (part.window ?? part);
  }

  /** Everything within the window was read back. */
  comeBack({ fromNs, toNs }: TimeWindow): void {
    this.parts = this.parts.filter((part) => {
      const window = part.window ?? part;
      return window.fromNs < fromNs || window.toNs > toNs;
    });
    this.bounds = this.parts.length === 0 ? undefined : this.parts.reduce(unite);
  }
}

export function isInside({ firstSeq, lastSeq, fromNs, toNs }: AwayPart, seq: number, ts: number): boolean {
  return seq >= firstSeq && seq <= lastSeq && ts >= fromNs && ts <= toNs;
}

export function unite(a: AwayPart, b: AwayPart): AwayPart {
  return {
    firstSeq: Math.min(a.firstSeq, b.firstSeq),
    lastSeq: Math.max(a.lastSeq, b.lastSeq),
    fromNs: Math.min(a.fromNs, b.fromNs),
    toNs: Math.max(a.toNs, b.toNs),
    events: a.events + b.events,
  };
}
