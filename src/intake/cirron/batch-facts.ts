// What rows say about their component: their times, processes and threads.

import type { Int64Column, StringColumn } from "#base/columns.ts";
import { atOnce } from "#base/turns.ts";
import { type Component, noteRowTime } from "./component.ts";
import type { CirronRows } from "./rows.ts";

/** Notes the facts of all rows of a batch. */
export function noteFacts(component: Component, { spans, marks, snapshots }: CirronRows): void {
  atOnce(noteSpans(component, spans, null));
  noteRowTimes(component, { starts: marks.ts_ns, ends: marks.ts_ns, ids: marks.mark_id }, null);
  noteRowTimes(component, { starts: snapshots.ts_ns, ends: snapshots.ts_ns, ids: snapshots.snapshot_id }, null);
}

const pauseRows = 4096;

/** Notes times, processes and threads. Rows of one process are adjacent, so only changes are looked at. */
export function* noteSpans(
  component: Component,
  spans: CirronRows["spans"],
  dropped: Uint8Array | null,
): Generator<void, void> {
  const { pid, rank, thread_id: thread, span_id: ids } = spans;
  let process = -1;
  let lastThread = -1;
  for (let row = 0; row < ids.length; row++) {
    if (row % pauseRows === pauseRows - 1) yield;
    if (dropped !== null && dropped[row] === 1) continue;
    component.spans++;
    const isSame = process >= 0 && isEqual(pid.inner, row, process) && rank.at(row) === rank.at(process);
    if (!isSame && !pid.isNull(row)) {
      component.processes.add(`${pid.inner.at(row)}/${rank.at(row)}`);
      process = row;
    }
    if (!thread.isNull(row) && (lastThread < 0 || !isEqual(thread.inner, row, lastThread))) {
      component.threads.add(thread.inner.at(row).toString());
      lastThread = row;
    }
  }
  noteRowTimes(component, { starts: spans.start_ns, ends: spans.end_ns, ids }, dropped);
}

function isEqual({ words }: Int64Column, a: number, b: number): boolean {
  return words[a * 2] === words[b * 2] && words[a * 2 + 1] === words[b * 2 + 1];
}

/**
 * Notes when the rows begin and end; those with a 1 in `dropped` are left out. Times are compared as pairs of words; only the
 * two that win become BigInts.
 */
export function noteRowTimes(
  component: Component,
  columns: { readonly starts: Int64Column; readonly ends: Int64Column; readonly ids: StringColumn },
  dropped: Uint8Array | null,
): void {
  const { starts, ends, ids } = columns;
  let first = -1;
  let last = -1;
  // Of rows that begin at the same time the one with the smallest id counts; only those ids become texts.
  let firstId: string | null = null;
  for (let row = 0; row < ids.length; row++) {
    if (dropped !== null && dropped[row] === 1) continue;
    if (last < 0 || compareTimes(ends.words, row, last) > 0) last = row;
    const order = first < 0 ? -1 : compareTimes(starts.words, row, first);
    if (order > 0) continue;
    if (order === 0) {
      firstId ??= ids.at(first);
      const id = ids.at(row);
      if (id >= firstId) continue;
      firstId = id;
    } else firstId = null;
    first = row;
  }
  if (first >= 0) noteRowTime(component, starts.at(first), ends.at(last), () => ids.at(first));
}

function compareTimes(words: Uint32Array, a: number, b: number): number {
  const high = ((words[a * 2 + 1] as number) | 0) - ((words[b * 2 + 1] as number) | 0);
  return high !== 0 ? high : (words[a * 2] as number) - (words[b * 2] as number);
}
