// The command line: every command, and how its end becomes an exit code.

import { Command, CommanderError } from "commander";
import { version } from "#base/version.ts";
import { type Context, paint } from "./context.ts";
import { type Exit, exitCodes } from "./exit.ts";
import { toExit } from "./sentence.ts";

type AddCommand = (program: Command, context: Context) => void;

/** In the order of the help. A command is loaded when it is run: together they are most of the program. */
const commands: Readonly<Record<string, () => Promise<AddCommand>>> = {
  up: async () => (await import("./commands/up.ts")).addUp,
  demo: async () => (await import("./commands/demo.ts")).addDemo,
  run: async () => (await import("./commands/run.ts")).addRun,
  import: async () => (await import("./commands/import.ts")).addImport,
  check: async () => (await import("./commands/check.ts")).addCheck,
  runs: async () => (await import("./commands/runs.ts")).addRuns,
  show: async () => (await import("./commands/show.ts")).addShow,
  "post-mortem": async () => (await import("./commands/post-mortem.ts")).addPostMortem,
  compare: async () => (await import("./commands/compare.ts")).addCompare,
  tail: async () => (await import("./commands/tail.ts")).addTail,
  export: async () => (await import("./commands/export.ts")).addExport,
  join: async () => (await import("./commands/join.ts")).addJoin,
  part: async () => (await import("./commands/join.ts")).addPart,
  delete: async () => (await import("./commands/delete.ts")).addDelete,
  send: async () => (await import("./commands/send.ts")).addSend,
  rules: async () => (await import("./commands/rules.ts")).addRules,
  gate: async () => (await import("./commands/gate.ts")).addGate,
  sql: async () => (await import("./commands/sql.ts")).addSql,
  mcp: async () => (await import("./commands/mcp.ts")).addMcp,
  keys: async () => (await import("./commands/keys.ts")).addKeys,
  doctor: async () => (await import("./commands/doctor.ts")).addDoctor,
  aside: async () => (await import("./commands/aside.ts")).addAside,
  backup: async () => (await import("./commands/backup.ts")).addBackup,
  restore: async () => (await import("./commands/backup.ts")).addRestore,
  migrate: async () => (await import("./commands/migrate.ts")).addMigrate,
  adopt: async () => (await import("./commands/adopt.ts")).addAdopt,
  completion: async () => (await import("./commands/completion.ts")).addCompletion,
};

const help = `
Settings come from flags, then TRIBUTARY_* variables, then tributary.toml.
Exit codes: 0 success · 1 the answer is no · 2 wrong use · 3 server or store away.
`;

/** With the command that is named, or with all of them. */
export async function createProgram(context: Context, name = ""): Promise<Command> {
  const program = new Command("tributary")
    .description(
      "One backend for machine-learning traces: Cirron, Semantiva, XTrack and OpenTelemetry, joined on one clock.",
    )
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
  for (const load of choose(name)) (await load())(program, context);
  return program;
}

function choose(name: string): (() => Promise<AddCommand>)[] {
  if (name === "--version" || name === "-V") return [];
  const named = Object.hasOwn(commands, name) ? commands[name] : undefined;
  // Completion speaks of all the others, and so do help and the answer to a mistyped name.
  return named === undefined || name === "completion" ? Object.values(commands) : [named];
}

/** Runs a command line and returns the exit code; never throws for what a person did. */
export async function runCli(args: readonly string[], context: Context): Promise<number> {
  try {
    const program = await createProgram(context, args[0]);
    refuseUnknown(program, args);
    await program.parseAsync([...args], { from: "user" });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.usage;
    const said = toExit(error);
    if (said.message !== "") printError(context, said, args.includes("--json"));
    return said.code;
  }
}

/**
 * Three mistakes that the parser does not report clearly: it takes a mistyped sub-command of `rules` for an argument of the
 * default one, answers `help` for an unknown command with the help for all, and knows no options before the command.
 */
function refuseUnknown(program: Command, [first = "", second = ""]: readonly string[]): void {
  const named = (command: Command) => [...command.commands.map((each) => each.name()), "help"];
  if (first === "help" && second !== "" && !named(program).includes(second))
    program.error(`error: unknown command '${second}'`);
  if (first.startsWith("--") && program.options.every(({ long }) => long !== first) && first !== "--help")
    program.error(`error: '${first}' comes after the command, as in: tributary runs --server URL`);
  const group = program.commands.find((command) => command.name() === first);
  if (group === undefined || group.commands.length === 0 || second === "" || second.startsWith("-")) return;
  if (!named(group).includes(second))
    group.error(`error: unknown command '${first} ${second}'. There are: ${named(group).join(", ")}.`);
}

function printError(context: Context, { code, message, hint }: Exit, isJson: boolean): void {
  if (isJson) {
    context.stderr.write(`${JSON.stringify({ error: { exit_code: code, message, hint } })}\n`);
    return;
  }
  const word = paint(context.stderr, context.env, "red", "error");
  context.stderr.write(`${word} ${message}\n${hint === "" ? "" : `${hint}\n`}`);
}
