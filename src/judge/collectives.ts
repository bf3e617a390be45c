// Which rank and which collective a distributed job hung in: the flight records of its ranks, aligned by process group
// and sequence number. Only the first difference is reported; everything after it merely waits.

import { largestOf, smallestOf } from "#base/extremes.ts";

export interface CollectiveEntry {
  /** The process group, as it is named in every rank. */
  readonly group: string;
  readonly seq: number;
  readonly op: string;
  /** `scheduled`, `started` or `completed`; `ended` if only its end is known. */
  readonly state: string;
  /** Sizes and types of what goes in, as text. */
  readonly shape: string;
  readonly frame: string;
}

export interface RankRecord {
  readonly rank: number;
  readonly entries: readonly CollectiveEntry[];
  /** Ranks of each process group, if the record names them. */
  readonly groups: Readonly<Record<string, readonly number[]>>;
}

export interface CollectiveFinding {
  readonly text: string;
  readonly group: string;
  readonly seq: number;
  readonly op: string;
  /** Ranks that never got there, do something else, or left no record. */
  readonly ranks: number[];
  readonly evidence: string[];
}

/** Null if all ranks completed every recorded collective. */
export function alignCollectives(records: readonly RankRecord[]): CollectiveFinding | null {
  const groups = new Set(records.flatMap(({ entries }) => entries.map(({ group }) => group)));
  const found = [...groups].map((group) => alignGroup(group, records)).filter((one) => one !== null);
  // Of several groups, one with a missing rank tells most.
  return found.toSorted((a, b) => rankOf(a.kind) - rankOf(b.kind))[0]?.finding ?? null;
}

type Kind = "missing" | "mismatch" | "unfinished";

function rankOf(kind: Kind): number {
  return kind === "missing" ? 0 : kind === "mismatch" ? 1 : 2;
}

interface GroupRank {
  readonly rank: number;
  readonly bySeq: ReadonlyMap<number, CollectiveEntry>;
  readonly last: number;
}

function alignGroup(group: string, records: readonly RankRecord[]): { kind: Kind; finding: CollectiveFinding } | null {
  const told = records.flatMap(({ groups }) => groups[group] ?? []);
  const ranks = records
    .filter(({ rank, entries }) => entries.some((entry) => entry.group === group) || told.includes(rank))
    .map((record) => toGroupRank(group, record));
  const absent = [...new Set(told)].filter((rank) => records.every((record) => record.rank !== rank)).sort(byNumber);
  const first = largestOf(ranks.map(({ bySeq }) => (bySeq.size === 0 ? 0 : smallestOf(bySeq.keys()))));
  // Only numbers that some rank recorded: a gap between two of them may be as large as a sender says.
  const seqs = [...new Set(ranks.flatMap(({ bySeq }) => [...bySeq.keys()]))].filter((seq) => seq >= first);
  for (const seq of seqs.sort(byNumber)) {
    const found = alignStep(group, seq, ranks, absent);
    if (found !== null) return found;
  }
  return null;
}

function toGroupRank(group: string, { rank, entries }: RankRecord): GroupRank {
  const bySeq = new Map(entries.filter((entry) => entry.group === group).map((entry) => [entry.seq, entry]));
  return { rank, bySeq, last: Math.max(-1, largestOf(bySeq.keys())) };
}

function alignStep(
  group: string,
  seq: number,
  ranks: readonly GroupRank[],
  absent: number[],
): { kind: Kind; finding: CollectiveFinding } | null {
  const there = ranks.flatMap(({ rank, bySeq }) => {
    const entry = bySeq.get(seq);
    return entry === undefined ? [] : [{ rank, entry }];
  });
  const [one] = there;
  if (one === undefined) return null;
  const { op } = one.entry;
  const away = ranks.filter(({ last }) => last < seq).map(({ rank }) => rank);
  const named = { group, seq, op };
  const where = `${op} #${seq} of the process group ${group}`;
  const evidence = there.map(
    ({ rank, entry }) => `rank ${rank}: ${entry.state}${entry.frame === "" ? "" : ` at ${entry.frame}`}`,
  );
  if (away.length > 0) {
    const text = `${sayRanks(away)} never joined ${where}; ${sayRanks(there.map(({ rank }) => rank))} waited in it.`;
    const lasts = ranks
      .filter(({ rank }) => away.includes(rank))
      .map(({ rank, last }) => `rank ${rank}: its last was #${last}`);
    return { kind: "missing", finding: { ...named, text, ranks: away, evidence: [...lasts, ...evidence] } };
  }
  const usual = mostCommon(there.map(({ entry }) => `${entry.op} ${entry.shape}`.trim()));
  const others = there.filter(({ entry }) => `${entry.op} ${entry.shape}`.trim() !== usual);
  if (others.length > 0) {
    const [other] = others as [(typeof there)[number]];
    const text = `${sayRanks(others.map(({ rank }) => rank))} did ${`${other.entry.op} ${other.entry.shape}`.trim()} where the others did ${usual}, #${seq} of the process group ${group}.`;
    return { kind: "mismatch", finding: { ...named, text, ranks: others.map(({ rank }) => rank), evidence } };
  }
  const unfinished = there.filter(({ entry }) => !isOver(entry)).map(({ rank }) => rank);
  if (unfinished.length === 0) return null;
  const lacking = absent.length > 0 ? ` ${sayRanks(absent)} left no record.` : "";
  const text = `${where} was not completed on ${sayRanks(unfinished).toLowerCase()}.${lacking}`;
  return { kind: "unfinished", finding: { ...named, text, ranks: absent.length > 0 ? absent : unfinished, evidence } };
}

function isOver({ state }: CollectiveEntry): boolean {
  return state === "completed" || state === "ended";
}

function mostCommon(texts: readonly string[]): string {
  const counts = [...Map.groupBy(texts, (text) => text)].sort(([, a], [, b]) => b.length - a.length);
  return counts[0]?.[0] ?? "";
}

function sayRanks(ranks: readonly number[]): string {
  const shown = ranks.toSorted(byNumber).slice(0, 16).join(", ");
  return `${ranks.length === 1 ? "Rank" : "Ranks"} ${shown}${ranks.length > 16 ? ` and ${ranks.length - 16} more` : ""}`;
}

function byNumber(a: number, b: number): number {
  return a - b;
}
