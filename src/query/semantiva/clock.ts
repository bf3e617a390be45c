// Semantiva writes local time with a `Z`. One record cannot show it; records beside their arrival can. Nothing is ever
// corrected or reordered because of it: the written time stays, and the run says when its clock looks shifted.

import type { ClockNote } from "#api/contract/pipeline.ts";
import { type ClockFacts as ClockTimes, readClocks } from "#store/reader/pipelines.ts";
import type { RunFacts } from "#store/reader/run-facts.ts";
import type { Store } from "#store/store.ts";

export interface ClockFacts extends ClockTimes {
  /** The records were read from files written earlier: then a written time long before arrival means nothing. */
  readonly imported: boolean;
}

const minuteNs = 60_000_000_000n;
const quarterMinutes = 15;
/** Ordinary clocks differ by less. */
const toleranceMinutes = 2;
/** Time zones reach from −12:00 to +14:00. */
const zoneMinutesMax = 14 * 60;

/**
 * A record cannot be written after it arrived, so a time ahead of its arrival always shows a shift. A time behind it does so
 * only if records came as they were written: then the lag stays the same, close to a whole number of quarter hours.
 */
export function noteClock(facts: ClockFacts): ClockNote | null {
  if (facts.last_ts_ns <= 0n) return null;
  const ahead = toMinutes(facts.most_ahead_ns);
  // What was read later than written can only have been further ahead.
  if (ahead > toleranceMinutes) return facts.imported ? toLeastNote(ahead) : toNote("ahead", ahead);
  if (facts.imported) return null;
  const lagAtStart = toMinutes(facts.first_received_ns - facts.first_ts_ns);
  const lagAtEnd = toMinutes(facts.last_received_ns - facts.last_ts_ns);
  const lag = Math.min(lagAtStart, lagAtEnd);
  const isSteady = Math.abs(lagAtStart - lagAtEnd) < toleranceMinutes;
  const isZone =
    lag >= quarterMinutes && lag <= zoneMinutesMax && Math.abs(lag - toQuarter(lag)) < toleranceMinutes / 2;
  return isSteady && isZone ? toNote("behind", lag) : null;
}

function toLeastNote(minutes: number): ClockNote {
  const least = Math.round(minutes);
  return {
    kind: "ahead",
    message: `The written times are ${toHours(least)} h or more ahead of UTC: local time marked as UTC. They are shown as written.`,
  };
}

function toHours(minutes: number): string {
  return `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, "0")}`;
}

function toNote(kind: ClockNote["kind"], minutes: number): ClockNote {
  const rounded = Math.abs(minutes - toQuarter(minutes)) < toleranceMinutes ? toQuarter(minutes) : Math.round(minutes);
  const hours = `${kind === "ahead" ? "+" : "−"}${toHours(rounded)}`;
  return {
    kind,
    message: `The written times look like local time (UTC${hours}) marked as UTC. They are shown as written.`,
  };
}

function toQuarter(minutes: number): number {
  return Math.round(minutes / quarterMinutes) * quarterMinutes;
}

function toMinutes(ns: bigint): number {
  return Number(ns) / Number(minuteNs);
}

/** The first sign of a shifted clock among the pipelines of some runs. */
export async function readClockNote(store: Store, facts: readonly RunFacts[]): Promise<ClockNote | null> {
  const groups = facts.flatMap((run) => run.groups).filter((group) => group.protocol === "semantiva");
  if (groups.length === 0) return null;
  const clocks = await readClocks(
    store,
    groups.map((group) => group.groupKey),
  );
  for (const { groupKey, imported } of groups) {
    const clock = clocks.get(groupKey);
    const note = clock === undefined ? null : noteClock({ ...clock, imported });
    if (note !== null) return note;
  }
  return null;
}
