// Lines that arrived since the page asked, so that a log grows without being asked for again. Pure.

import type { LogRow, LogsQuery } from "#api/contract/record.ts";
import { isAfter } from "#model/positions.ts";

export interface TailLine {
  readonly row: LogRow;
  /** The live event that brought it: its place in the journal. */
  readonly event: string;
}

export interface LogTail {
  readonly lines: readonly TailLine[];
  /** How many lines arrived in all. */
  readonly arrived: number;
  /** The event of the newest line that is no longer held; empty while all are. */
  readonly dropped: string;
}

export const emptyTail: LogTail = { lines: [], arrived: 0, dropped: "" };
export const linesMax = 20_000;

/**
 * Adds lines and drops what is too much: the oldest, which are then asked for again, or under a reader the newest, so that
 * the lines being read stay where they are.
 */
export function growTail(tail: LogTail, fresh: readonly TailLine[], isRead: boolean): LogTail {
  const all = [...tail.lines, ...fresh];
  const arrived = tail.arrived + fresh.length;
  const excess = all.length - linesMax;
  if (excess <= 0) return { ...tail, lines: all, arrived };
  const dropped = isRead ? all.at(-1) : all[excess - 1];
  return {
    lines: isRead ? all.slice(0, linesMax) : all.slice(excess),
    arrived,
    dropped: isAfter(dropped?.event ?? "", tail.dropped) ? (dropped?.event ?? "") : tail.dropped,
  };
}

/** Which lines a view shows: the same question the server answers. */
export type LogFilter = Pick<LogsQuery, "q" | "level" | "worker" | "from_ns" | "to_ns">;

/** Whether the server would count a line among the levels of this question. */
function matchesWithoutLevel(row: LogRow, filter: LogFilter): boolean {
  if (filter.q !== undefined && !row.msg.toLowerCase().includes(filter.q.toLowerCase())) return false;
  if (filter.worker !== undefined && !filter.worker.includes(row.worker)) return false;
  if (filter.from_ns !== undefined && BigInt(row.ts_ns) < BigInt(filter.from_ns)) return false;
  return filter.to_ns === undefined || BigInt(row.ts_ns) < BigInt(filter.to_ns);
}

function matches(row: LogRow, filter: LogFilter): boolean {
  return matchesWithoutLevel(row, filter) && (filter.level === undefined || filter.level.includes(row.level));
}

/** The answer's lines, oldest first, with what arrived since; a line that is in both stands once. */
export function appendLines(answer: readonly LogRow[], tail: readonly LogRow[], filter: LogFilter): readonly LogRow[] {
  const known = new Set(answer.map((row) => row.id));
  const fresh = tail.filter((row) => !known.has(row.id) && matches(row, filter));
  if (fresh.length === 0) return answer;
  const rows = [...answer, ...fresh];
  return isOrdered(rows) ? rows : rows.sort(byTime);
}

/** The counts of an answer with the lines that it does not hold. */
export function addLevels(
  levels: Readonly<Record<string, number>>,
  since: readonly LogRow[],
  filter: LogFilter,
): Record<string, number> {
  const counts = { ...levels };
  for (const row of since) {
    if (matchesWithoutLevel(row, filter)) counts[row.level] = (counts[row.level] ?? 0) + 1;
  }
  return counts;
}

function byTime(a: LogRow, b: LogRow): number {
  return a.ts_ns.length - b.ts_ns.length || (a.ts_ns < b.ts_ns ? -1 : a.ts_ns > b.ts_ns ? 1 : 0);
}

function isOrdered(rows: readonly LogRow[]): boolean {
  return rows.every((row, i) => {
    const before = rows[i - 1];
    return before === undefined || byTime(before, row) <= 0;
  });
}
