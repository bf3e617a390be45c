// A launch as a grid over the keys of its runs' contexts: which cells were planned, started, done, failed, and which are
// missing. Indexes may come twice (a launch id used again) and contexts too; every run keeps a cell of its own.

import type { PipelineOutcome } from "#api/contract/pipeline.ts";
import { compareText } from "#base/compare-text.ts";
import { parseJson } from "#base/json/parse.ts";
import type { LaunchMember } from "#store/reader/members.ts";
import { inferContexts } from "./missing-contexts.ts";
import { toRunOutcome } from "./success.ts";

export interface GridCell {
  readonly index: number | null;
  /** Null for a planned run of which nothing has arrived. */
  readonly run_id: string | null;
  readonly status: PipelineOutcome | "missing";
  /** Context keys with their values as strict JSON text. */
  readonly context: Readonly<Record<string, string>>;
}

export interface Axis {
  readonly name: string;
  /** Distinct values as strict JSON text, numbers in their order, others by text. */
  readonly values: readonly string[];
  readonly numeric: boolean;
}

export interface Grid {
  /** The most varied first; keys with a single value last. */
  readonly axes: readonly Axis[];
  readonly cells: readonly GridCell[];
  readonly counts: {
    readonly planned: number | null;
    readonly started: number;
    readonly done: number;
    readonly failed: number;
    readonly missing: number;
  };
  /** Runs that share all of their context with another run. */
  readonly duplicates: readonly {
    readonly context: Readonly<Record<string, string>>;
    readonly runs: readonly string[];
  }[];
}

/** Of a plan beyond this many runs the missing ones are counted, not listed one by one. */
const listedMissingMax = 100_000;

/** `members` in their order: by index, then by start. */
export function toGrid(members: readonly LaunchMember[], planned: number | null): Grid {
  const contexts = new ContextReader();
  const started: GridCell[] = members.map((run) => ({
    index: run.run_index,
    run_id: run.run_id,
    status: toRunOutcome(run),
    context: contexts.read(run.context),
  }));
  const missing = toMissingCells(started, planned);
  const cells = missing.cells.length === 0 ? started : [...started, ...missing.cells].sort(compareCells);
  const countOf = (status: PipelineOutcome) => started.reduce((sum, cell) => sum + (cell.status === status ? 1 : 0), 0);
  return {
    axes: toAxes(cells),
    cells,
    counts: {
      planned,
      started: started.length,
      done: countOf("succeeded"),
      failed: countOf("failed"),
      missing: missing.count,
    },
    duplicates: contexts.distinct === members.length ? [] : toDuplicates(members, contexts),
  };
}

/** The cell whose value is best; NaN and runs without a value never are. Ties go to the smaller index. */
export function pickBest(
  cells: readonly GridCell[],
  toValue: (runId: string) => number | undefined,
  direction: "min" | "max",
): GridCell | null {
  let best: GridCell | null = null;
  let bestValue = Number.NaN;
  for (const cell of cells) {
    const value = cell.run_id === null ? undefined : toValue(cell.run_id);
    if (value === undefined || Number.isNaN(value)) continue;
    if (best !== null && !(direction === "min" ? value < bestValue : value > bestValue)) continue;
    best = cell;
    bestValue = value;
  }
  return best;
}

/** Contexts of one launch repeat their keys and often their values, so each text is read once. */
class ContextReader {
  private readonly known = new Map<string, Readonly<Record<string, string>>>();

  get distinct(): number {
    return this.known.size;
  }

  read(text: string): Readonly<Record<string, string>> {
    let context = this.known.get(text);
    if (context === undefined) {
      context = splitMembers(text);
      this.known.set(text, context);
    }
    return context;
  }
}

/**
 * The members of an object in compact strict JSON, as intake stores contexts, each value as its text. A launch may have
 * 100,000 contexts, so they are cut, not parsed.
 */
function splitMembers(text: string): Record<string, string> {
  const members: Record<string, string> = {};
  let depth = 0;
  let start = 1;
  let colon = -1;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === 0x22) i = endOfString(text, i);
    else if (c === 0x7b || c === 0x5b) depth++;
    else if (c === 0x3a && depth === 1 && colon < 0) colon = i;
    else if (c === 0x7d || c === 0x5d || (c === 0x2c && depth === 1)) {
      const isEnd = c !== 0x2c;
      if (isEnd) depth--;
      if (colon < 0 || (isEnd && depth > 0)) continue;
      const name: string = JSON.parse(text.slice(start, colon));
      members[name] = text.slice(colon + 1, i);
      start = i + 1;
      colon = -1;
    }
  }
  return members;
}

/** `at` is the opening quote; returns the closing one. */
function endOfString(text: string, at: number): number {
  let end = text.indexOf('"', at + 1);
  while (isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end;
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0;
  while (text.charCodeAt(at - 1 - backslashes) === 0x5c) backslashes++;
  return backslashes % 2 === 1;
}

function toMissingCells(started: readonly GridCell[], planned: number | null): { cells: GridCell[]; count: number } {
  if (planned === null) return { cells: [], count: 0 };
  const seen = new Set(started.flatMap(({ index }) => (index === null ? [] : [index])));
  // Without indexes only the number of missing runs can be told.
  if (seen.size === 0) return { cells: [], count: Math.max(0, planned - started.length) };
  const indexes: number[] = [];
  for (let index = 0; index < planned && indexes.length < listedMissingMax; index++)
    if (!seen.has(index)) indexes.push(index);
  const count = planned - seen.values().reduce((sum, index) => sum + Number(index >= 0 && index < planned), 0);
  const contexts = inferContexts(started, indexes, planned);
  const cells = indexes.map((index) => ({
    index,
    run_id: null,
    status: "missing" as const,
    context: contexts.get(index) ?? {},
  }));
  return { cells, count };
}

function toAxes(cells: readonly GridCell[]): Axis[] {
  const values = new Map<string, Set<string>>();
  for (const { context } of cells) {
    for (const name in context) {
      let known = values.get(name);
      if (known === undefined) {
        known = new Set();
        values.set(name, known);
      }
      known.add(context[name] as string);
    }
  }
  const axes = Array.from(values, ([name, known]) => toAxis(name, [...known]));
  return axes.sort((a, b) => b.values.length - a.values.length || compareText(a.name, b.name));
}

function toAxis(name: string, texts: readonly string[]): Axis {
  const numbers = new Map(texts.map((text) => [text, toNumber(text)]));
  const numeric = texts.every((text) => !Number.isNaN(numbers.get(text)));
  const compare = (a: string, b: string) =>
    numeric ? (numbers.get(a) as number) - (numbers.get(b) as number) || compareText(a, b) : compareText(a, b);
  return { name, values: texts.toSorted(compare), numeric };
}

/** NaN for what is not a number. */
function toNumber(text: string): number {
  const parsed = parseJson(text);
  return parsed.ok && (typeof parsed.value === "number" || typeof parsed.value === "bigint")
    ? Number(text)
    : Number.NaN;
}

function toDuplicates(runs: readonly LaunchMember[], contexts: ContextReader): Grid["duplicates"] {
  const byContext = Map.groupBy(
    runs.filter(({ context }) => context !== ""),
    ({ context }) => context,
  );
  return Array.from(byContext)
    .filter(([, same]) => same.length > 1)
    .map(([context, same]) => ({ context: contexts.read(context), runs: same.map(({ run_id }) => run_id) }));
}

function compareCells(a: GridCell, b: GridCell): number {
  return (a.index ?? Number.MAX_SAFE_INTEGER) - (b.index ?? Number.MAX_SAFE_INTEGER);
}
