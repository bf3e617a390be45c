// What a run has for a field: for filters, sorting, grouping and the cells of a table.

import type { MetricCell, MetricCount, ParamCell, SummaryPoint } from "#model/run-cells.ts";
import type { RunFacts } from "#model/run-facts.ts";
import type { FieldRef } from "./field.ts";
import type { RunHead } from "./head.ts";
import type { FieldValue } from "./match.ts";

/** A run with everything that was read about it. */
export interface RunEntry {
  readonly facts: RunFacts;
  readonly head: RunHead;
  readonly name: string;
  readonly tags: readonly string[];
  /** By param name: the latest value. */
  readonly params: ReadonlyMap<string, ParamCell>;
  readonly metrics: readonly MetricCell[];
  readonly counts: readonly MetricCount[];
}

export function valuesOf(entry: RunEntry, field: FieldRef): readonly FieldValue[] {
  switch (field.kind) {
    case "run":
      return runValues(entry, field.name);
    case "tag":
      return entry.tags
        .filter((tag) => tag.startsWith(`${field.name}=`))
        .map((tag) => toText(tag.slice(field.name.length + 1)));
    case "param": {
      const cell = entry.params.get(field.name);
      return cell === undefined ? [] : [toParamValue(cell)];
    }
    case "metric":
      return metricValues(entry, field);
  }
}

function runValues(entry: RunEntry, name: Extract<FieldRef, { kind: "run" }>["name"]): readonly FieldValue[] {
  const { facts, head } = entry;
  const [pipeline] = facts.pipelines.filter((one) => one.launchId !== "");
  switch (name) {
    case "id":
      return [toText(facts.runId)];
    case "name":
      return [toText(entry.name)];
    case "status":
      return [toText(head.status)];
    case "status_raw":
      return optional(head.statusRaw);
    case "protocol":
      return protocolsOf(facts).map(toText);
    case "experiment":
      return optional(head.experiment);
    case "tags":
      return entry.tags.map(toText);
    case "start":
      return toTime(head.startNs);
    case "end":
      return toTime(head.endNs);
    case "updated":
      return toTime(head.lastReceivedNs);
    case "duration":
      return toTime(durationOf(head));
    case "workers":
      return [toNumber(head.workers.length)];
    case "launch":
      return optional(pipeline?.launchId ?? "");
    case "attempt":
      return toTime(pipeline?.attempt ?? null);
    case "index":
      return toTime(pipeline?.index ?? null);
    case "parent":
      return optional(head.parent);
    case "archived":
      return [toText(String(facts.edit?.archived ?? false))];
    case "notes":
      return optional(facts.edit?.notes ?? "");
    case "error":
      return optional(head.errorMessage);
    case "faults":
      return [toNumber(facts.groups.reduce((sum, group) => sum + group.faults, 0))];
    case "gaps":
      return [toNumber(facts.missing)];
    case "host":
    case "user":
    case "commit":
    case "branch":
      return optional(head.source[name] ?? "");
  }
}

export function protocolsOf(facts: RunFacts): string[] {
  const known = facts.groups.map((group) => group.protocol).filter((protocol) => protocol !== "run");
  return [...new Set(known)].sort();
}

export function durationOf(head: RunHead): bigint | null {
  return head.startNs === null || head.endNs === null ? null : head.endNs - head.startNs;
}

function metricValues(entry: RunEntry, field: Extract<FieldRef, { kind: "metric" }>): readonly FieldValue[] {
  const mine = entry.metrics.filter(
    (cell) => cell.key === field.key && (field.phase === null || cell.phase === field.phase),
  );
  if (mine.length === 0) return [];
  const counts = entry.counts.filter(
    (cell) => cell.key === field.key && (field.phase === null || cell.phase === field.phase),
  );
  switch (field.stat) {
    case "first":
      return toPoint(
        pickPoint(
          mine.map((cell) => cell.first),
          -1,
        ),
      );
    case "last":
      return toPoint(
        pickPoint(
          mine.map((cell) => cell.last),
          1,
        ),
      );
    case "min":
      return numbers(mine.map((cell) => cell.min))
        .toSorted((a, b) => a - b)
        .slice(0, 1)
        .map(toNumber);
    case "max":
      return numbers(mine.map((cell) => cell.max))
        .toSorted((a, b) => b - a)
        .slice(0, 1)
        .map(toNumber);
    case "count":
      return [toNumber(counts.reduce((sum, cell) => sum + cell.count, 0))];
    case "nonfinite":
      return [toNumber(counts.reduce((sum, cell) => sum + cell.nonfinite, 0))];
  }
}

/** The greatest (sign 1) or least (sign -1) by (step, time). */
function pickPoint(points: readonly SummaryPoint[], sign: 1 | -1): SummaryPoint {
  return points.reduce((best, point) => (comparePoints(point, best) * sign > 0 ? point : best));
}

function comparePoints(a: SummaryPoint, b: SummaryPoint): number {
  const steps = compareBig(a.step ?? -(2n ** 63n), b.step ?? -(2n ** 63n));
  return steps !== 0 ? steps : compareBig(a.tsNs, b.tsNs);
}

function compareBig(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function toPoint(point: SummaryPoint): FieldValue[] {
  if (point.text !== "") return [{ text: point.text, num: point.value }];
  return point.value === null ? [] : [toNumber(point.value)];
}

function toParamValue(cell: ParamCell): FieldValue {
  const { value, num } = cell;
  return { text: value.startsWith('"') ? (JSON.parse(value) as string) : value, num };
}

function toNumber(num: number): FieldValue {
  return { text: Object.is(num, -0) ? "-0" : String(num), num };
}

function toText(text: string): FieldValue {
  return { text, num: null };
}

function toTime(value: bigint | null): FieldValue[] {
  return value === null ? [] : [{ text: value.toString(), num: Number(value) }];
}

function optional(text: string): FieldValue[] {
  return text === "" ? [] : [toText(text)];
}

function numbers(values: readonly (number | null)[]): number[] {
  return values.filter((value) => value !== null);
}
