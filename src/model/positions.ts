// How far a reader has come in the journals of the collectors: `<collector>-<position>`, or with several collectors a
// comma-separated list of these. In the id of a live event the collector it came from is first.

export type Positions = ReadonlyMap<string, number>;

export function formatPosition(collector: string, position: number): string {
  return `${collector}-${position}`;
}

/** Where a row came from: whose journal, which record, which row of it. Rows of older releases name no collector. */
export interface RowPlace {
  readonly collector: string;
  readonly jpos: string | bigint;
  readonly jrow: number;
}

/** Tells journal records of all collectors apart. */
export function formatJournalPlace({ collector, jpos }: Omit<RowPlace, "jrow">): string {
  return collector === "" ? String(jpos) : `${collector}-${jpos}`;
}

/** Tells records of all collectors apart. */
export function formatRowPlace(place: RowPlace): string {
  return `${formatJournalPlace(place)}.${place.jrow}`;
}

/** Null for a text that is not a place. */
export function parseRowPlace(text: string): (RowPlace & { readonly jpos: string }) | null {
  const match = /^(?:(\w{1,64})-)?(\d{1,18})\.(\d{1,10})$/.exec(text);
  if (match === null || Number(match[3]) > 0xffff_ffff) return null;
  return { collector: match[1] ?? "", jpos: match[2] as string, jrow: Number(match[3]) };
}

/** `first` is put before the others, which are sorted. */
export function formatPositions(positions: Positions, first?: string): string {
  const names = [...positions.keys()].sort((a, b) => (a === first ? -1 : b === first ? 1 : a < b ? -1 : 1));
  return names.map((name) => formatPosition(name, positions.get(name) as number)).join(",");
}

/** Parts that are no position are left out. */
export function parsePositions(text: string): Map<string, number> {
  const positions = new Map<string, number>();
  for (const part of text.split(",")) {
    const dash = part.lastIndexOf("-");
    const digits = part.slice(dash + 1);
    if (dash <= 0 || !/^\d{1,15}$/.test(digits)) continue;
    positions.set(part.slice(0, dash), Number(digits));
  }
  return positions;
}

/** Whether an event is newer than an answer. A collector that the answer does not name is taken as newer. */
export function isAfter(eventId: string, asOf: string): boolean {
  const [own] = parsePositions(eventId);
  if (own === undefined) return true;
  const known = parsePositions(asOf).get(own[0]);
  return known === undefined || own[1] > known;
}
