// Rules: listing and changing them, arming and silencing, and trying them on stored runs.

import { type ApiContext, ofRun, type Route } from "#api/context.ts";
import { toRunPlace } from "#api/contract/judge.ts";
import type { TriedRule, WatchedRule } from "#api/contract/rule.ts";
import { toExactJson } from "#api/handler.ts";
import { Refusal } from "#api/refusal.ts";
import { formatExactly } from "#base/json/exact-integers.ts";
import { type Rule, sayRule } from "#judge/rule.ts";
import { toAudit } from "#model/audit.ts";
import { listRuns } from "#query/runs/list.ts";
import { tryRules } from "#watch/back-test.ts";
import { formatRule, parseRule, RuleMistake } from "#watch/parse-rule.ts";
import { rulesSetting, type StoredRules, type WatchedRule as Watched } from "#watch/rule-book.ts";
import { readFilter } from "./runs.ts";

const runsDefault = 20;

export const rulesRoute: Route<"rules"> = async (context, { caller }) => {
  // While the store is away, the rules that are known are watched.
  await context.rules.refresh().catch(() => undefined);
  const rules = context.rules.of(caller.workspace).map(toRule);
  return toExactJson({ watching: context.isWatching, rules, as_of: context.asOf() });
};

function toRule({ rule, origin, isArmed, silencedUntilNs }: Watched): WatchedRule {
  const { name, kind } = rule;
  const silenced_until_ns = silencedUntilNs === 0n ? null : silencedUntilNs.toString();
  return { name, kind, means: sayRule(rule), origin, armed: isArmed, silenced_until_ns, rule: formatRule(rule) };
}

export const putRuleRoute: Route<"putRule"> = async (context, { params, body, caller }) => {
  const rule = readRule(params.rule, body);
  await context.rules.refresh();
  if (context.rules.find(caller.workspace, params.rule)?.origin === "file") throw ofFile(params.rule);
  const stored = (nowNs: bigint) => context.rules.withRule(caller.workspace, rule, nowNs);
  await store(context, caller, stored, { action: "rule_set", name: params.rule, detail: body });
  return toExactJson(toRule(find(context, caller.workspace, params.rule)));
};

export const deleteRuleRoute: Route<"deleteRule"> = async (context, { params, caller }) => {
  await context.rules.refresh();
  const { origin } = find(context, caller.workspace, params.rule);
  if (origin === "file") throw ofFile(params.rule);
  const stored = () => context.rules.without(caller.workspace, params.rule);
  await store(context, caller, stored, { action: "rule_deleted", name: params.rule, detail: {} });
  return { done: true };
};

export const armRuleRoute: Route<"armRule"> = async (context, { params, body, caller }) => {
  await context.rules.refresh();
  const { rule } = find(context, caller.workspace, params.rule);
  const { armed } = body;
  const stored = () => context.rules.with(caller.workspace, params.rule, { armed });
  const detail = { armed, rule: formatRule(rule) };
  await store(context, caller, stored, { action: armed ? "rule_armed" : "rule_disarmed", name: rule.name, detail });
  return toExactJson(toRule(find(context, caller.workspace, params.rule)));
};

export const silenceRuleRoute: Route<"silenceRule"> = async (context, { params, body, caller }) => {
  await context.rules.refresh();
  const { rule } = find(context, caller.workspace, params.rule);
  const nowNs = context.head().nowNs;
  const until = body.seconds === 0 ? 0n : nowNs + BigInt(body.seconds) * 1_000_000_000n;
  const change = { silenced_until_ns: until.toString() };
  const stored = () => context.rules.with(caller.workspace, params.rule, change);
  await store(context, caller, stored, { action: "rule_silenced", name: rule.name, detail: body });
  return toExactJson(toRule(find(context, caller.workspace, params.rule)));
};

export const testRuleRoute: Route<"testRule"> = async (context, { body, caller, asOf }) => {
  if ((body.name === undefined) === (body.rule === undefined))
    throw new Refusal("rule_invalid", "Name a rule that there is, or give one, one of the two.", {
      at: { part: "body" },
    });
  const rule =
    body.rule === undefined ? find(context, caller.workspace, body.name as string).rule : readRule("tried", body.rule);
  const question = { workspace: caller.workspace, filter: readFilter(body.filter), columns: [], group: null };
  const rest = { sort: [], archived: "show" as const, limit: body.runs ?? runsDefault, after: null };
  const { rows } = await listRuns(context.sources, { ...question, ...rest }, context.head());
  const runs = rows.map(({ row }) => ({ runId: row.runId, groups: row.groups.map(({ groupKey }) => groupKey) }));
  const names = new Map(rows.map(({ row }) => [row.runId, row.name]));
  return { ...(await tryOn(context, caller.workspace, runs, [rule], names)), as_of: asOf };
};

export const gateRoute: Route<"gate"> = ofRun(async (context, { asOf, run, body, caller, groups }) => {
  const rules = Object.entries(body.rules).map(([name, rule]) => readRule(name, rule));
  const runs = [{ runId: run.runId, groups }];
  return { ...(await tryOn(context, caller.workspace, runs, rules, new Map())), as_of: asOf };
});

async function tryOn(
  context: ApiContext,
  workspace: string,
  runs: Parameters<typeof tryRules>[2],
  rules: readonly Rule[],
  names: ReadonlyMap<string, string>,
): Promise<{ tried: TriedRule[]; fired: number }> {
  const found = await tryRules(context.sources, workspace, runs, rules, context.head());
  const tried = found.map(({ runId, rule, signal }) => ({
    run: runId,
    name: names.get(runId) ?? runId,
    rule,
    fired: signal !== null,
    text: signal?.text ?? "",
    evidence: [...(signal?.evidence ?? [])],
    at: signal && toRunPlace(signal.at),
  }));
  return { tried, fired: tried.filter(({ fired }) => fired).length };
}

function readRule(name: string, given: Record<string, unknown>): Rule {
  try {
    return parseRule(name, given);
  } catch (error) {
    if (!(error instanceof RuleMistake)) throw error;
    throw new Refusal("rule_invalid", error.message, { hint: "See docs/rules.md.", at: { part: "body" } });
  }
}

function find(context: ApiContext, workspace: string, name: string): Watched {
  const found = context.rules.find(workspace, name);
  if (found !== undefined) return found;
  throw new Refusal("rule_not_found", `There is no rule ${name}.`, {
    hint: "List rules with GET /api/v1/rules.",
    at: { part: "path", name: "rule" },
  });
}

function ofFile(name: string): Refusal {
  return new Refusal("rule_of_file", `The rule ${name} is in the settings file, and is changed there.`, {
    at: { part: "path", name: "rule" },
  });
}

async function store(
  context: ApiContext,
  { workspace, name: author }: { readonly workspace: string; readonly name: string },
  stored: (nowNs: bigint) => StoredRules,
  { action, name, detail }: { readonly action: string; readonly name: string; readonly detail: unknown },
): Promise<void> {
  await context.rules.inTurn(workspace, async () => {
    const version = context.head().nowNs;
    const row = { workspace, name: rulesSetting, value: formatExactly(stored(version)), author, version };
    const audit = toAudit(workspace, author, action, name, detail, version);
    await context.change([{ table: "settings", row }, audit], workspace, author);
    context.rules.load([row]);
  });
}
