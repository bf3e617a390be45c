// What a run has for a field: for filters, sorting, grouping and the cells of a table. Fields of the run itself come
// from its row; params and metrics from the cells that were read by their names.

import { compare } from "#base/compare-text.ts";
import type { MetricCell, MetricCount, ParamCell } from "#store/reader/cells.ts";
import type { MetricField, RunField } from "./field.ts";
import type { RunHead } from "./head.ts";
import type { FieldReader, FieldValue } from "./match.ts";
import type { RunRow } from "./row.ts";

export function runValues(row: RunRow, name: RunField): readonly FieldValue[] {
  const { head } = row;
  switch (name) {
    case "id":
      return [toText(row.runId)];
    case "name":
      return [toText(row.name)];
    case "status":
      return [toText(head.status)];
    case "status_raw":
      return optional(head.statusRaw);
    case "protocol":
      return row.protocols.map(toText);
    case "experiment":
      return optional(head.experiment);
    case "tags":
      return row.tags.map(toText);
    case "start":
      return toTime(head.startNs);
    case "end":
      return toTime(head.endNs);
    case "updated":
      return toTime(head.lastReceivedNs);
    case "duration":
      return toTime(durationOf(head));
    case "workers":
      return [new NumberValue(head.workers.length)];
    case "launch":
      return optional(row.launch?.id ?? "");
    case "attempt":
      return toTime(row.launch?.attempt ?? null);
    case "index":
      return toTime(row.launch?.index ?? null);
    case "parent":
      return optional(head.parent);
    case "archived":
      return [toText(String(row.edit?.archived ?? false))];
    case "notes":
      return optional(row.edit?.notes ?? "");
    case "error":
      return optional(head.errorMessage);
    case "faults":
      return [new NumberValue(row.faults)];
    case "gaps":
      return [new NumberValue(row.missing)];
    case "host":
    case "user":
    case "commit":
    case "branch":
      return optional(head.source[name] ?? "");
  }
}

export function toTagReader(name: string): FieldReader<RunRow> {
  const start = `${name}=`;
  return (row) => row.tags.filter((tag) => tag.startsWith(start)).map((tag) => toText(tag.slice(start.length)));
}

export function durationOf(head: RunHead): bigint | null {
  return head.startNs === null || head.endNs === null ? null : head.endNs - head.startNs;
}

/** The latest of the values that the groups of a run have for a param; the groups in order. */
export function paramValues(cells: readonly ParamCell[]): readonly FieldValue[] {
  let latest: ParamCell | null = null;
  for (const cell of cells) if (latest === null || cell.tsNs >= latest.tsNs) latest = cell;
  if (latest === null) return [];
  const { value, num } = latest;
  const text = value.startsWith('"') ? (JSON.parse(value) as string) : value;
  return [num !== null && text === formatNumber(num) ? new NumberValue(num) : { text, num }];
}

/** The first, last, least or greatest of a run's points in the field's phase. */
export function pointValues(
  field: Pick<MetricField, "phase" | "stat">,
  cells: readonly MetricCell[],
): readonly FieldValue[] {
  let best: MetricCell | null = null;
  for (const cell of cells) {
    if (field.phase !== null && cell.phase !== field.phase) continue;
    if ((field.stat === "min" || field.stat === "max") && cell.value === null) continue;
    if (best === null || isBetter(field.stat, cell, best)) best = cell;
  }
  if (best === null) return [];
  if (best.text !== "") return [{ text: best.text, num: best.value }];
  return best.value === null ? [] : [new NumberValue(best.value)];
}

function isBetter(stat: MetricField["stat"], cell: MetricCell, best: MetricCell): boolean {
  if (stat === "min") return (cell.value as number) < (best.value as number);
  if (stat === "max") return (cell.value as number) > (best.value as number);
  return comparePlaces(cell, best) * (stat === "first" ? -1 : 1) > 0;
}

const noStep = -(2n ** 63n);

/** By step and time; whose a point is decides where these are equal, so that the order of reading does not matter. */
function comparePlaces(a: MetricCell, b: MetricCell): number {
  return (
    compare(a.step ?? noStep, b.step ?? noStep) ||
    compare(a.tsNs, b.tsNs) ||
    compare(a.groupKey, b.groupKey) ||
    compare(a.worker, b.worker) ||
    compare(a.phase, b.phase)
  );
}

export function countValues(
  field: Pick<MetricField, "phase" | "stat">,
  cells: readonly MetricCount[],
): readonly FieldValue[] {
  const mine = cells.filter((cell) => field.phase === null || cell.phase === field.phase);
  if (mine.length === 0) return [];
  const stat = field.stat === "count" ? "count" : "nonfinite";
  return [new NumberValue(mine.reduce((sum, cell) => sum + cell[stat], 0))];
}

/** A number. Most are never shown, so its text is made only when asked for. */
export class NumberValue implements FieldValue {
  readonly num: number;

  constructor(num: number) {
    this.num = num;
  }

  get text(): string {
    return formatNumber(this.num);
  }
}

/** A time or a 64-bit integer: its text is exact, its number nearly. */
class IntegerValue implements FieldValue {
  readonly num: number;
  private readonly exact: bigint;

  constructor(exact: bigint) {
    this.num = Number(exact);
    this.exact = exact;
  }

  get text(): string {
    return this.exact.toString();
  }
}

function formatNumber(num: number): string {
  return Object.is(num, -0) ? "-0" : String(num);
}

function toText(text: string): FieldValue {
  return { text, num: null };
}

function toTime(value: bigint | null): FieldValue[] {
  return value === null ? [] : [new IntegerValue(value)];
}

function optional(text: string): FieldValue[] {
  return text === "" ? [] : [toText(text)];
}
