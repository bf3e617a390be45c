// A rule as people write it, in tributary.toml or as JSON, and back. Mistakes are sentences.

import { duration } from "#config/kinds.ts";
import { commandTypes } from "#control/command.ts";
import { lastValuesMax } from "#judge/last-values.ts";
import { type Actions, factsOf, type Rule, type RuleKind, ruleKindNames, withDefaults } from "#judge/rule.ts";
import { parseFilter } from "#query/runs/filter.ts";

export class RuleMistake extends Error {
  override readonly name = "RuleMistake";
}

const words = new Set([
  "kind",
  "filter",
  "when",
  "than",
  "metric",
  "for",
  "cooldown",
  "once",
  "again",
  "webhook",
  "email",
  "command",
  "payload",
]);

/** Options of rules over the last points of a run: how many points, steps or windows they look at. */
const counts: ReadonlySet<string> = new Set(["count", "window", "steps", "samples", "windows"]);

/** Throws a RuleMistake. */
export function parseRule(name: string, given: Readonly<Record<string, unknown>>): Rule {
  if (!/^[\w-]{1,64}$/.test(name)) throw new RuleMistake("A rule's name has letters, digits, - and _, 64 at most.");
  const kind = readKind(name, given["kind"]);
  const { options, source } = factsOf(kind);
  const own: Record<string, number> = {};
  for (const [key, value] of Object.entries(given)) {
    if (words.has(key)) continue;
    const option = Object.hasOwn(options, key) ? key : `${key}_ms`;
    if (!Object.hasOwn(options, option)) throw new RuleMistake(unknownKey(name, key, Object.keys(options)));
    const read = option.endsWith("_ms") ? readTime : source === "track" && counts.has(option) ? readCount : readNumber;
    own[option] = read(name, key, value);
  }
  const rule = withDefaults({
    name,
    kind,
    filter: readFilter(name, "filter", given["filter"]),
    when: readFilter(name, "when", given["when"]),
    than: given["than"] === undefined ? "" : readText(name, "than", given["than"]),
    options: own,
    actions: readActions(name, given),
    ...(given["metric"] === undefined ? {} : { metric: readText(name, "metric", given["metric"]) }),
    ...(given["for"] === undefined ? {} : { forMs: readTime(name, "for", given["for"]) }),
    ...(given["cooldown"] === undefined ? {} : { cooldownMs: readTime(name, "cooldown", given["cooldown"]) }),
    ...(given["once"] === undefined ? {} : { once: readFlag(name, "once", given["once"]) }),
    ...(given["again"] === undefined ? {} : { again: readFlag(name, "again", given["again"]) }),
  });
  if (kind !== "slow" && rule.than !== "")
    throw new RuleMistake(
      `\`than\` names the run that one of kind \`slow\` is measured by; the rule ${name} is of another.`,
    );
  if (kind === "threshold" && rule.when === "")
    throw new RuleMistake(`The rule ${name} needs \`when\`, such as "metrics.val_loss.last>3".`);
  return rule;
}

/** What `parseRule` reads again as the same rule. */
export function formatRule(rule: Rule): Record<string, unknown> {
  const { webhooks, emails, commands } = rule.actions;
  return {
    kind: rule.kind,
    ...(rule.filter === "" ? {} : { filter: rule.filter }),
    ...(rule.when === "" ? {} : { when: rule.when }),
    ...(rule.than === "" ? {} : { than: rule.than }),
    ...(rule.metric === "" ? {} : { metric: rule.metric }),
    ...rule.options,
    for: `${rule.forMs}ms`,
    cooldown: `${rule.cooldownMs}ms`,
    once: rule.once,
    again: rule.again,
    ...(webhooks.length === 0 ? {} : { webhook: webhooks }),
    ...(emails.length === 0 ? {} : { email: emails }),
    ...(commands.length === 0 ? {} : { command: commands.map(({ type }) => type) }),
    ...(commands.some(({ payload }) => Object.keys(payload).length > 0) ? { payload: commands.at(-1)?.payload } : {}),
  };
}

function readKind(name: string, value: unknown): RuleKind {
  const kind = ruleKindNames.find((one) => one === (value ?? name));
  if (kind === undefined) throw new RuleMistake(`The rule ${name} needs a \`kind\`: ${ruleKindNames.join(", ")}.`);
  return kind;
}

function unknownKey(name: string, key: string, options: readonly string[]): string {
  const known = [...words, ...options.map((option) => option.replace(/_ms$/, ""))];
  return `The rule ${name} has no \`${key}\`; it may have ${known.join(", ")}.`;
}

function readNumber(name: string, key: string, value: unknown): number {
  const number = typeof value === "bigint" ? Number(value) : value;
  if (typeof number !== "number" || !Number.isFinite(number) || number < 0)
    throw new RuleMistake(`\`${key}\` of the rule ${name} must be a number, 0 or above.`);
  return number;
}

function readCount(name: string, key: string, value: unknown): number {
  if (!Number.isInteger(value) || (value as number) < 1 || (value as number) > lastValuesMax)
    throw new RuleMistake(`\`${key}\` of the rule ${name} must be a whole number from 1 to ${lastValuesMax}.`);
  return value as number;
}

function readFlag(name: string, key: string, value: unknown): boolean {
  if (typeof value !== "boolean") throw new RuleMistake(`\`${key}\` of the rule ${name} must be true or false.`);
  return value;
}

function readTime(name: string, key: string, value: unknown): number {
  const ms = typeof value === "number" ? value : duration.read(value as string);
  if (ms === undefined || !Number.isSafeInteger(ms) || ms < 0)
    throw new RuleMistake(`\`${key}\` of the rule ${name} must be ${duration.allowed}.`);
  return ms;
}

function readText(name: string, key: string, value: unknown): string {
  if (typeof value !== "string" || value.length > 4096)
    throw new RuleMistake(`\`${key}\` of the rule ${name} must be a text.`);
  return value;
}

function readFilter(name: string, key: string, value: unknown): string {
  if (value === undefined) return "";
  const text = readText(name, key, value);
  const parsed = parseFilter(text);
  if (!parsed.ok) throw new RuleMistake(`\`${key}\` of the rule ${name}: ${parsed.mistake.message}`);
  return text;
}

function readActions(name: string, given: Readonly<Record<string, unknown>>): Actions {
  const webhooks = readTexts(name, "webhook", given["webhook"]);
  const emails = readTexts(name, "email", given["email"]);
  const types = readTexts(name, "command", given["command"]);
  const payload = given["payload"] ?? {};
  for (const url of webhooks)
    if (!/^https?:\/\//i.test(url) || !URL.canParse(url))
      throw new RuleMistake(`\`webhook\` of the rule ${name} must be a URL that begins with https:// or http://.`);
  for (const email of emails)
    if (!/^[^\s@<>"]+@[^\s@<>"]+$/.test(email))
      throw new RuleMistake(`\`email\` of the rule ${name} must be an address.`);
  for (const type of types)
    if (!commandTypes.some((known) => known === type))
      throw new RuleMistake(`\`command\` of the rule ${name} must be of ${commandTypes.join(", ")}.`);
  if (typeof payload !== "object" || payload === null || Array.isArray(payload))
    throw new RuleMistake(`\`payload\` of the rule ${name} must be a table.`);
  const last = types.length - 1;
  return {
    webhooks,
    emails,
    // What is to be done comes last; a checkpoint before it needs no more words.
    commands: types.map((type, at) => ({ type, payload: at === last ? (payload as Record<string, unknown>) : {} })),
  };
}

const listMax = 16;

function readTexts(name: string, key: string, value: unknown): string[] {
  if (value === undefined) return [];
  const list = Array.isArray(value) ? (value as unknown[]) : [value];
  if (list.length > listMax) throw new RuleMistake(`\`${key}\` of the rule ${name} may have ${listMax} entries.`);
  return list.map((one) => readText(name, key, one));
}
