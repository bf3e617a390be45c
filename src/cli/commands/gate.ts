// tributary gate: whether a run passes the rules of a file, for CI.

import { readFileSync } from "node:fs";
import type { Command } from "commander";
import { parse, TomlError } from "smol-toml";
import { type ConnectOptions, withClient } from "#cli/connect.ts";
import type { Context } from "#cli/context.ts";
import { Exit, exitCodes } from "#cli/exit.ts";
import { formatCount } from "#cli/format.ts";
import { addConnectOptions, addJsonOption } from "#cli/options.ts";
import { printJson, printLine } from "#cli/print.ts";
import { whyNot } from "#cli/sentence.ts";
import { printFired } from "./rules.ts";

interface GateOptions extends ConnectOptions {
  readonly rules: string;
}

export function addGate(program: Command, context: Context): void {
  const command = program
    .command("gate")
    .summary("check a run against rules")
    .description("Tries the rules of a file on a run and exits with 1 when one of them would have fired.")
    .argument("<run>", "id or alias")
    .requiredOption("--rules <file>", "a TOML file with a table [rules.<name>] for each rule")
    .addHelpText("after", "\nExample:\n  tributary gate my-run --rules ci.toml\n");
  addJsonOption(addConnectOptions(command)).action((id: string, options: GateOptions) => {
    const rules = readRules(options.rules);
    return withClient(context, options, async (client) => {
      const answer = await client.call("gate", { params: { id }, body: { rules } });
      if (options.json) printJson(context, answer);
      else printFired(context, answer.tried);
      const tried = formatCount(answer.tried.length, "rule");
      if (answer.fired > 0)
        throw new Exit(exitCodes.negative, options.json ? "" : `${answer.fired} of ${tried} fired on ${id}.`);
      if (!options.json) printLine(context, `${id} passes ${tried}.`);
    });
  });
}

type Rules = Record<string, Record<string, unknown>>;

function readRules(path: string): Rules {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    const why = whyNot((error as NodeJS.ErrnoException).code);
    throw new Exit(exitCodes.usage, `${path} cannot be read: ${why}.`);
  }
  try {
    const { rules } = parse(text);
    if (typeof rules === "object" && !Array.isArray(rules) && Object.keys(rules).length > 0) return rules as Rules;
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    throw new Exit(exitCodes.usage, `${path}:${error.line}:${error.column}: ${error.message.split("\n")[0]}`);
  }
  throw new Exit(exitCodes.usage, `${path} has no rules.`, "It needs a table such as: [rules.nonfinite]");
}
