// The command line: every command, and how its end becomes an exit code.

import { Command, CommanderError } from "commander";
import { version } from "#base/version.ts";
import { addAside } from "./commands/aside.ts";
import { addBackup, addRestore } from "./commands/backup.ts";
import { addCheck } from "./commands/check.ts";
import { addCompare } from "./commands/compare.ts";
import { addCompletion } from "./commands/completion.ts";
import { addDelete } from "./commands/delete.ts";
import { addDemo } from "./commands/demo.ts";
import { addDoctor } from "./commands/doctor.ts";
import { addExport } from "./commands/export.ts";
import { addGate } from "./commands/gate.ts";
import { addImport } from "./commands/import.ts";
import { addJoin, addPart } from "./commands/join.ts";
import { addKeys } from "./commands/keys.ts";
import { addMcp } from "./commands/mcp.ts";
import { addAdopt, addMigrate } from "./commands/migrate.ts";
import { addPostMortem } from "./commands/post-mortem.ts";
import { addRules } from "./commands/rules.ts";
import { addRun } from "./commands/run.ts";
import { addRuns } from "./commands/runs.ts";
import { addSend } from "./commands/send.ts";
import { addShow } from "./commands/show.ts";
import { addSql } from "./commands/sql.ts";
import { addTail } from "./commands/tail.ts";
import { addUp } from "./commands/up.ts";
import { type Context, paint } from "./context.ts";
import { type Exit, exitCodes } from "./exit.ts";
import { toExit } from "./sentence.ts";

const commands = [
  addUp,
  addDemo,
  addRun,
  addImport,
  addCheck,
  addRuns,
  addShow,
  addPostMortem,
  addCompare,
  addTail,
  addExport,
  addJoin,
  addPart,
  addDelete,
  addSend,
  addRules,
  addGate,
  addSql,
  addMcp,
  addKeys,
  addDoctor,
  addAside,
  addBackup,
  addRestore,
  addMigrate,
  addAdopt,
  addCompletion,
];

const help = `
Settings come from flags, then TRIBUTARY_* variables, then tributary.toml.
Exit codes: 0 success · 1 the answer is no · 2 wrong use · 3 server or store away.
`;

export function createProgram(context: Context): Command {
  const program = new Command("tributary")
    .description("One backend for machine-learning traces: Cirron, Semantiva and XTrack, joined on one clock.")
    .version(version)
    .enablePositionalOptions()
    .showSuggestionAfterError()
    .showHelpAfterError("(--help shows how)")
    .addHelpText("after", help)
    .configureOutput({
      writeOut: (text) => context.stdout.write(text),
      writeErr: (text) => context.stderr.write(text),
      getOutHelpWidth: () => context.stdout.columns ?? 100,
      getErrHelpWidth: () => context.stderr.columns ?? 100,
    })
    .exitOverride();
  for (const add of commands) add(program, context);
  return program;
}

/** Runs a command line and returns the exit code; never throws for what a person did. */
export async function runCli(args: readonly string[], context: Context): Promise<number> {
  try {
    await createProgram(context).parseAsync([...args], { from: "user" });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.usage;
    const said = toExit(error);
    if (said.message !== "") printError(context, said, args.includes("--json"));
    return said.code;
  }
}

function printError(context: Context, { code, message, hint }: Exit, isJson: boolean): void {
  if (isJson) {
    context.stderr.write(`${JSON.stringify({ error: { exit_code: code, message, hint } })}\n`);
    return;
  }
  const word = paint(context.stderr, context.env, "red", "error");
  context.stderr.write(`${word} ${message}\n${hint === "" ? "" : `${hint}\n`}`);
}
