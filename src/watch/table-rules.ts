// Rules over the table of runs: which of some runs a rule is about, and which match what it waits for.

import type { ServerNs } from "#base/clock.ts";
import { conditionOf, type Rule } from "#judge/rule.ts";
import type { Signal } from "#judge/signals.ts";
import { type Filter, fieldsOf, parseFilter } from "#query/runs/filter.ts";
import type { HeadContext, RunStatus } from "#query/runs/head.ts";
import { wordsOf } from "#query/runs/list.ts";
import { toPredicate } from "#query/runs/match.ts";
import type { RunRow } from "#query/runs/row.ts";
import type { RunsView } from "#query/runs/run-table.ts";
import type { Sources } from "#query/sources.ts";

/** What the table says of a run, for the rules that were asked for. */
export interface TableSight {
  readonly status: RunStatus;
  readonly name: string;
  readonly groups: readonly string[];
  readonly updatedNs: ServerNs;
  /** Names of rules that are about this run. */
  readonly about: ReadonlySet<string>;
  /** By rule, if its condition holds. */
  readonly signals: ReadonlyMap<string, Signal>;
}

/** A rule with its tests: whether a run is one of its runs, and whether its condition holds. Null: no such test. */
interface Tested {
  readonly rule: Rule;
  readonly isAbout: ((place: number) => boolean) | null;
  readonly isThere: ((place: number) => boolean) | null;
}

/** Of runs that there are. One question for all of them. */
export async function lookAtTable(
  sources: Pick<Sources, "runs">,
  workspace: string,
  runs: { readonly ids: readonly string[]; readonly groups: readonly string[] },
  rules: readonly Rule[],
  context: HeadContext,
): Promise<Map<string, TableSight>> {
  const tested = rules.map((rule) => ({ rule, filter: toFilter(rule.filter), condition: toFilter(conditionOf(rule)) }));
  const fields = tested.flatMap(({ filter, condition }) => [...fieldsOf(filter), ...fieldsOf(condition)]);
  return sources.runs.askSome(workspace, runs.groups, fields, context, (view) => {
    const source = { readerOf: view.readerOf, wordsOf: (at: number) => wordsOf(view.rowAt(at)) };
    const toTest = (filter: Filter | null) => (filter === null ? null : toPredicate(filter, source, context.nowNs));
    const tests = tested.map(({ rule, filter, condition }) => ({
      rule,
      isAbout: toTest(filter),
      isThere: toTest(condition),
    }));
    const found = new Map<string, TableSight>();
    for (const id of runs.ids) {
      const place = view.placeOf(id);
      if (place !== undefined) found.set(id, toSight(view, place, tests, context.nowNs));
    }
    return found;
  });
}

function toFilter(text: string): Filter | null {
  const parsed = parseFilter(text);
  return parsed.ok ? parsed.filter : null;
}

function toSight(view: RunsView, place: number, tested: readonly Tested[], nowNs: ServerNs): TableSight {
  const row = view.rowAt(place);
  const about = new Set<string>();
  const signals = new Map<string, Signal>();
  for (const { rule, isAbout, isThere } of tested) {
    if (isAbout?.(place) === false) continue;
    about.add(rule.name);
    if (isThere?.(place)) signals.set(rule.name, toSignal(rule, row, nowNs));
  }
  return {
    status: row.head.status,
    name: row.name,
    groups: row.groups.map(({ groupKey }) => groupKey),
    updatedNs: row.head.lastReceivedNs,
    about,
    signals,
  };
}

function toSignal(rule: Rule, row: RunRow, nowNs: ServerNs): Signal {
  const { head } = row;
  const at = { step: null, tsNs: head.endNs ?? head.lastReceivedNs ?? nowNs };
  const said = (text: string, evidence: readonly string[] = []): Signal => ({ text, evidence, at, metric: "" });
  switch (rule.kind) {
    case "gap":
      return said(row.missing === 1 ? "One record is missing." : `${row.missing} records are missing.`);
    case "fault":
      return said(`${row.faults === 1 ? "One record" : `${row.faults} records`} could not be understood.`);
    case "failed": {
      const error = [head.errorType, head.errorMessage.split("\n")[0] ?? ""].filter((part) => part !== "").join(": ");
      return said(error === "" ? "The run failed." : `The run failed: ${toBrief(error)}`);
    }
    case "lost":
      return said("Nothing is heard of the run any more, and it reported no end.");
    case "finished":
      return said("The run completed.");
    default:
      return said(`The run matches ${rule.when}`, [rule.when]);
  }
}

/** Enough to recognise an error. It goes into every message, and a client may have sent megabytes. */
const errorCharsMax = 300;

function toBrief(text: string): string {
  return text.length > errorCharsMax ? `${text.slice(0, errorCharsMax).toWellFormed()}…` : text;
}
