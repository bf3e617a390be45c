// One span with its marks and the way up to the root, and time by span name.

import type { Sources } from "#query/sources.ts";
import * as reader from "#store/reader/span.ts";
import { readSpanSummary } from "#store/reader/span-summary.ts";
import type { TimeWindow } from "#store/reader/time-window.ts";

/** Real traces nest 70 deep; beyond this the way up is cut, and the answer says so. */
const ancestorsMax = 128;

/** Null when it is not known. */
export async function readSpanDetail({ store }: Sources, groups: readonly string[], id: string) {
  const span = await reader.readSpan(store, groups, id);
  if (span === null) return null;
  const { parent, ...rest } = span;
  const [way, marks] = await Promise.all([
    readAncestors(store, groups, parent),
    reader.readMarksOfSpan(store, groups, span.id),
  ]);
  return { ...rest, ...way, marks };
}

interface Ancestor {
  readonly id: string;
  readonly name: string;
  readonly index: string | null;
  readonly arrived: boolean;
}

/** From the root down. A parent that never arrived ends the path and is marked as such. */
async function readAncestors(store: Sources["store"], groups: readonly string[], parent: string | null) {
  const way: Ancestor[] = [];
  const seen = new Set<string>();
  let next = parent;
  while (next !== null && !seen.has(next) && way.length < ancestorsMax) {
    seen.add(next);
    const found = await reader.readSpanRef(store, groups, next);
    way.unshift({ id: next, name: found?.name ?? "", index: found?.index ?? null, arrived: found !== null });
    next = found?.parent ?? null;
  }
  return { ancestors: way, ancestors_cut: next !== null && !seen.has(next) };
}

/** The longest first. A name without any GPU time has none, not zero. */
export async function summarizeSpans({ store }: Sources, window: TimeWindow, byRank: boolean) {
  const rows = await readSpanSummary(store, window, byRank);
  return rows.map(({ gpu_count, gpu_ns, ...row }) => ({ ...row, gpu_ns: gpu_count === 0 ? null : gpu_ns }));
}
