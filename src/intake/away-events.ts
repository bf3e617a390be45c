// The ranges of a worker's events whose identities memory has dropped. An event outside all of these is new without a question;
// for one inside, the identities that lie there come back from the store first.
//
// Sequence numbers and times are doubles: rounding keeps their order, so nothing that is inside is taken for outside.

/** Times whose events come back together. */
export interface TimeWindow {
  readonly fromNs: number;
  readonly toNs: number;
}

export interface AwayPart extends TimeWindow {
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly events: number;
  /** What to read when one of them is asked for; the part's own times when absent. */
  readonly window?: TimeWindow;
}

/** Neighbours are one part up to this many events: as many as may come back for a single late one. */
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

  /** What has to come back before anything can be said of this event. */
  windowOf(seq: number, ts: number): TimeWindow | undefined {
    if (this.bounds === undefined || !isInside(this.bounds, seq, ts)) return undefined;
    const part = this.parts.find((each) => isInside(each, seq, ts));
    return part === undefined ? undefined : (part.window ?? part);
  }

  /** Everything within the window is known again. */
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
