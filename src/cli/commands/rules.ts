// tributary rules: the rules, and the alerts they raised.

import type { Command } from "commander";
import type { TriedRule, WatchedRule } from "#api/contract/rule.ts";
import { nowNs } from "#base/clock.ts";
import { given } from "#base/given.ts";
import { askServer, type ConnectOptions } from "#cli/connect.ts";
import type { Context } from "#cli/context.ts";
import { Exit, exitCodes } from "#cli/exit.ts";
import { formatAgo, formatCount } from "#cli/format.ts";
import { countBetween } from "#cli/options.ts";
import { printJson, printLine, printTable } from "#cli/print.ts";
import { duration } from "#config/kinds.ts";

export function addRules(program: Command, context: Context): void {
  const rules = program
    .command("rules")
    .summary("list, try, arm and silence rules")
    .description("Lists the rules that watch runs. A rule only reports on the page until it is armed.")
    .addHelpText("after", "\nExample:\n  tributary rules test nonfinite --runs 50\n");
  addList(rules, context);
  addTest(rules, context);
  addArm(rules, context);
  addSilence(rules, context);
  addAlerts(rules, context);
}

function addList(rules: Command, context: Context): void {
  const list = rules
    .command("list", { isDefault: true })
    .summary("list the rules")
    .addHelpText("after", "\nExample:\n  tributary rules list\n");
  askServer(context, list, async (client, options: ConnectOptions) => {
    const answer = await client.call("rules", {});
    if (options.json) return printJson(context, answer);
    printTable(
      context,
      ["NAME", "STATE", "FROM", "DOES", "FIRES WHEN"],
      answer.rules.map((rule) => [rule.name, stateOf(rule), rule.origin, toActions(rule), rule.means]),
    );
    if (!answer.watching) printLine(context, "This server does not watch rules (watch.rules is off).");
  });
}

function stateOf({ armed, silenced_until_ns }: WatchedRule): string {
  const isSilent = silenced_until_ns !== null && BigInt(silenced_until_ns) > nowNs();
  return isSilent ? "silenced" : armed ? "armed" : "dry run";
}

function toActions({ rule }: WatchedRule): string {
  const words = ["command", "webhook", "email"].flatMap((key) => {
    const list = rule[key] === undefined ? [] : [rule[key]].flat();
    return key === "command" ? list.map(String) : list.length === 0 ? [] : [`${list.length} ${key}`];
  });
  return words.length === 0 ? "tells" : words.join(", ");
}

function addTest(rules: Command, context: Context): void {
  const test = rules
    .command("test")
    .summary("try a rule on the last runs")
    .description("Shows where a rule would have fired on the last runs. Nothing is sent and nothing is done.")
    .argument("<rule>", "its name")
    .option("--runs <n>", "how many runs, at most 500", countBetween(1, 500), 20)
    .option("--filter <filter>", "only runs that match")
    .addHelpText("after", "\nExample:\n  tributary rules test diverge --filter 'experiment:gpt'\n");
  askServer(
    context,
    test,
    async (client, options: ConnectOptions & { runs: number; filter?: string }, name: string) => {
      const { runs, filter } = options;
      const answer = await client.call("testRule", { body: { name, runs, ...given({ filter }) } });
      if (options.json) return printJson(context, answer);
      printFired(context, answer.tried);
      printLine(context, `${name} would have fired on ${answer.fired} of ${formatCount(answer.tried.length, "run")}.`);
    },
  );
}

/** What fired, with its evidence. */
export function printFired(context: Context, tried: readonly TriedRule[]): void {
  for (const { name, rule, text, evidence } of tried.filter(({ fired }) => fired)) {
    printLine(context, `${name}  ${rule}: ${text}`);
    for (const line of evidence) printLine(context, `  · ${line}`);
  }
}

function addArm(rules: Command, context: Context): void {
  const arm = rules
    .command("arm")
    .summary("let a rule act, or only report")
    .description("Lets a rule send its messages and commands from now on; --off makes it a dry run again.")
    .argument("<rule>", "its name")
    .option("--off", "make it a dry run")
    .addHelpText("after", "\nExample:\n  tributary rules test stop-on-nan && tributary rules arm stop-on-nan\n");
  askServer(context, arm, async (client, options: ConnectOptions & { off?: boolean }, rule: string) => {
    const answer = await client.call("armRule", { params: { rule }, body: { armed: options.off !== true } });
    if (options.json) return printJson(context, answer);
    printLine(context, answer.armed ? `${rule} is armed: ${toActions(answer)}.` : `${rule} is a dry run.`);
  });
}

function addSilence(rules: Command, context: Context): void {
  const silence = rules
    .command("silence")
    .summary("keep a rule from firing for a time")
    .argument("<rule>", "its name")
    .argument("<time>", "such as 2h, or off to end the silence")
    .addHelpText("after", "\nExample:\n  tributary rules silence stall 8h\n");
  askServer(context, silence, async (client, options: ConnectOptions, rule: string, time: string) => {
    const ms = time === "off" ? 0 : duration.read(time);
    if (ms === undefined) throw new Exit(exitCodes.usage, `The time must be ${duration.allowed}, or off.`);
    const answer = await client.call("silenceRule", { params: { rule }, body: { seconds: Math.ceil(ms / 1000) } });
    if (options.json) return printJson(context, answer);
    printLine(context, ms === 0 ? `${rule} fires again.` : `${rule} is silent for ${time}.`);
  });
}

function addAlerts(rules: Command, context: Context): void {
  const alerts = rules
    .command("alerts")
    .summary("list what rules saw")
    .option("--run <id>", "only from this run")
    .addHelpText("after", "\nExample:\n  tributary rules alerts --run my-run\n");
  askServer(context, alerts, async (client, options: ConnectOptions & { run?: string }) => {
    const { run: id } = options;
    const answer =
      id === undefined
        ? await client.call("alerts", { query: {} })
        : await client.call("runAlerts", { params: { id }, query: {} });
    if (options.json) return printJson(context, answer);
    if (answer.alerts.length === 0) return printLine(context, "No rule has fired.");
    const rows = answer.alerts.map((alert) => [
      formatAgo(alert.fired_ns),
      alert.rule,
      `${alert.armed ? "" : "dry, "}${alert.resolved_ns === null ? "firing" : "resolved"}`,
      alert.run,
      alert.text,
    ]);
    printTable(context, ["WHEN", "RULE", "STATE", "RUN", "WHAT"], rows);
  });
}
