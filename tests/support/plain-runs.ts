// The table of runs in the plainest way: every run from everything stored about it, the whole list sorted, nothing kept.
// The kept table has to give the same answers.

import type { FieldRef } from "#query/runs/field.ts";
import type { HeadContext } from "#query/runs/head.ts";
import type { RunsQuestion } from "#query/runs/list.ts";
import { type FieldValue, toPredicate } from "#query/runs/match.ts";
import { type RunRow, toRunRow } from "#query/runs/row.ts";
import { runValues, toTagReader } from "#query/runs/values.ts";
import { cellsOf, isNonfinite, type ModelPoint, type ModelStore } from "./run-model.ts";

export interface PlainRun {
  readonly row: RunRow;
  readonly cells: readonly { readonly values: readonly FieldValue[]; readonly nonfinite: number }[];
}

/** All runs that match, in order. */
export function listPlainly(store: ModelStore, question: RunsQuestion, context: HeadContext): PlainRun[] {
  const values = (row: RunRow, field: FieldRef) => plainValues(store, row, field);
  const source = {
    readerOf: (field: FieldRef) => (row: RunRow) => values(row, field),
    wordsOf: (row: RunRow) => [row.name, row.runId, row.head.experiment, ...row.tags],
  };
  const isMatch = question.filter === null ? () => true : toPredicate(question.filter, source, context.nowNs);
  const { archived } = question;
  return store
    .factsNow(null)
    .map((facts) => toRunRow(facts, context))
    .filter((row) => archived === "show" || (row.edit?.archived ?? false) === (archived === "only"))
    .filter(isMatch)
    .sort((a, b) => comparePlainly(a, b, question, values))
    .map((row) => ({
      row,
      cells: question.columns.map((field) => ({
        values: values(row, field),
        nonfinite: field.kind === "metric" ? pointsOf(store, row, field.key).filter(isNonfinite).length : 0,
      })),
    }));
}

function comparePlainly(
  a: RunRow,
  b: RunRow,
  { group, sort }: RunsQuestion,
  values: (row: RunRow, field: FieldRef) => readonly FieldValue[],
): number {
  const orders = [...(group === null ? [] : [{ field: group, descending: false }]), ...sort];
  for (const { field, descending } of orders) {
    const [left, right] = [values(a, field)[0], values(b, field)[0]];
    if (left === undefined && right === undefined) continue;
    // A run without the value comes last, whichever way the sort goes.
    if (left === undefined || right === undefined) return left === undefined ? 1 : -1;
    const order = compareFieldValues(left, right);
    if (order !== 0) return descending ? -order : order;
  }
  const newest = Number((b.head.startNs ?? 0n) - (a.head.startNs ?? 0n));
  return (sort.length === 0 ? newest : 0) || (a.runId < b.runId ? -1 : 1);
}

/** Numbers first, then texts; NaN is as good as a text. */
function compareFieldValues(a: FieldValue, b: FieldValue): number {
  const [left, right] = [a, b].map(({ num, text }) => (num === null || Number.isNaN(num) ? text : num));
  if (typeof left === "number" && typeof right === "number") return left === right ? 0 : left < right ? -1 : 1;
  if (typeof left !== typeof right) return typeof left === "number" ? -1 : 1;
  return String(left) === String(right) ? 0 : String(left) < String(right) ? -1 : 1;
}

function plainValues(store: ModelStore, row: RunRow, field: FieldRef): readonly FieldValue[] {
  switch (field.kind) {
    case "run":
      return runValues(row, field.name);
    case "tag":
      return toTagReader(field.name)(row);
    case "param": {
      const mine = groupsOf(store, row).flatMap(({ params }) => params.filter((cell) => cell.name === field.name));
      const latest = mine.toSorted((a, b) => Number(a.tsNs - b.tsNs)).at(-1);
      if (latest === undefined) return [];
      const { value, num } = latest;
      return [{ text: value.startsWith('"') ? (JSON.parse(value) as string) : value, num }];
    }
    case "metric":
      return plainMetric(store, row, field);
  }
}

function plainMetric(
  store: ModelStore,
  row: RunRow,
  { key, phase, stat }: Extract<FieldRef, { kind: "metric" }>,
): FieldValue[] {
  const points = pointsOf(store, row, key).filter((point) => phase === null || point.phase === phase);
  if (points.length === 0) return [];
  if (stat === "count") return [toValue(points.length)];
  if (stat === "nonfinite") return [toValue(points.filter(isNonfinite).length)];
  const series = row.groups.flatMap(({ groupKey }) => cellsOf(groupKey, groupOf(store, groupKey), key, stat));
  const mine = series
    .filter((cell) => phase === null || cell.phase === phase)
    .sort((a, b) => (a.groupKey + a.phase + a.worker < b.groupKey + b.phase + b.worker ? -1 : 1));
  if (stat === "min" || stat === "max") {
    const numbers = mine.flatMap(({ value }) => (value === null ? [] : [value]));
    if (numbers.length === 0) return [];
    return [toValue(stat === "min" ? Math.min(...numbers) : Math.max(...numbers))];
  }
  const sign = stat === "first" ? -1 : 1;
  const best = mine.reduce((held, cell) => {
    const order = Number((cell.step ?? -1n) - (held.step ?? -1n)) || Number(cell.tsNs - held.tsNs);
    return order * sign > 0 ? cell : held;
  });
  if (best.text !== "") return [{ text: best.text, num: best.value }];
  return best.value === null ? [] : [toValue(best.value)];
}

function toValue(num: number): FieldValue {
  return { text: Object.is(num, -0) ? "-0" : String(num), num };
}

function groupOf(store: ModelStore, groupKey: string): ReturnType<ModelStore["groups"]["get"]> & object {
  const group = store.groups.get(groupKey);
  if (group === undefined) throw new Error(`no group ${groupKey}`);
  return group;
}

function groupsOf(store: ModelStore, row: RunRow): (ReturnType<ModelStore["groups"]["get"]> & object)[] {
  return row.groups.map(({ groupKey }) => groupOf(store, groupKey));
}

function pointsOf(store: ModelStore, row: RunRow, key: string): ModelPoint[] {
  return groupsOf(store, row).flatMap(({ points }) => points.filter((point) => point.key === key));
}
