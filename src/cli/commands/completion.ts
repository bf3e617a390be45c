// tributary completion: scripts that complete commands, options and the words that an option takes in bash, zsh and fish.

import { Argument, type Command, type Option } from "commander";
import type { Context } from "#cli/context.ts";
import { printLine } from "#cli/print.ts";

export function addCompletion(program: Command, context: Context): void {
  program
    .command("completion")
    .summary("print a completion script")
    .description("Prints a script that completes commands and options in your shell.")
    .addArgument(new Argument("<shell>", "your shell").choices(["bash", "zsh", "fish"]))
    .addHelpText(
      "after",
      "\nExample:\n  tributary completion bash > ~/.local/share/bash-completion/completions/tributary\n",
    )
    .action((shell: "bash" | "zsh" | "fish") => {
      const commands = listCommands(program);
      printLine(context, { bash: toBash, zsh: toZsh, fish: toFish }[shell](commands));
    });
}

interface Listed {
  readonly name: string;
  readonly summary: string;
  readonly options: readonly {
    readonly long: string;
    readonly description: string;
    /** The values it takes, if those are a few words. */
    readonly words: readonly string[];
    readonly hasValue: boolean;
  }[];
  readonly children: readonly string[];
}

function listCommands(program: Command): Listed[] {
  return program.commands.map((command) => ({
    name: command.name(),
    summary: command.summary(),
    options: listOptions(command),
    children: [
      ...command.commands.map((child) => child.name()),
      ...command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []),
    ],
  }));
}

/** A command's own options and those of the commands below it, each once. */
function listOptions(command: Command): Listed["options"] {
  const all = [command, ...command.commands].flatMap(({ options }): readonly Option[] => options);
  const byName = new Map<string, Listed["options"][number]>();
  for (const { long, description, argChoices, required, optional } of all)
    if (long && !byName.has(long))
      byName.set(long, { long, description, words: argChoices ?? [], hasValue: required || optional });
  return [...byName.values()];
}

function toBash(commands: readonly Listed[]): string {
  const cases = commands.map(({ name, options, children }) => {
    const words = [...children, ...options.map(({ long }) => long)].join(" ");
    return `    ${name}) words="${words}" ;;`;
  });
  const choices = commands.flatMap(({ name, options }) =>
    options
      .filter(({ words }) => words.length > 0)
      .map(({ long, words }) => `    "${name} ${long}") words="${words.join(" ")}" ;;`),
  );
  return `# bash completion for tributary
_tributary() {
  local current=\${COMP_WORDS[COMP_CWORD]} words
  case \${COMP_WORDS[1]} in
${cases.join("\n")}
    *) words="" ;;
  esac
  case "\${COMP_WORDS[1]} \${COMP_WORDS[COMP_CWORD - 1]}" in
${choices.join("\n")}
  esac
  if [ "$COMP_CWORD" -eq 1 ]; then words="${commands.map(({ name }) => name).join(" ")}"; fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _tributary tributary`;
}

function toZsh(commands: readonly Listed[]): string {
  const quote = (text: string) => text.replace(/['[\]:]/g, (letter) => (letter === "'" ? "'\\''" : `\\${letter}`));
  const described = commands.map(({ name, summary }) => `    '${name}:${quote(summary)}'`);
  const cases = commands.map(({ name, options, children }) => {
    const flags = options.map(({ long, description, words, hasValue }) => {
      const value = words.length > 0 ? `:value:(${words.join(" ")})` : hasValue ? ":value:_files" : "";
      return `'${long}[${quote(description)}]${value}'`;
    });
    const words = children.length > 0 ? ` '1:what:(${children.join(" ")})'` : "";
    return `    ${name}) _arguments ${flags.join(" ")}${words} '*:file:_files' ;;`;
  });
  return `#compdef tributary
_tributary() {
  local -a commands
  commands=(
${described.join("\n")}
  )
  if (( CURRENT == 2 )); then _describe 'command' commands; return; fi
  local command=$words[2]
  shift words; (( CURRENT-- ))
  case $command in
${cases.join("\n")}
  esac
}
_tributary "$@"`;
}

function toFish(commands: readonly Listed[]): string {
  const quote = (text: string) => `'${text.replace(/['\\]/g, "\\$&")}'`;
  const lines = commands.flatMap(({ name, summary, options, children }) => [
    `complete -c tributary -n __fish_use_subcommand -a ${name} -d ${quote(summary)}`,
    ...children.map((child) => `complete -c tributary -n '__fish_seen_subcommand_from ${name}' -a ${child}`),
    ...options.map(({ long, description, words }) => {
      const values = words.length > 0 ? ` -x -a ${quote(words.join(" "))}` : "";
      return `complete -c tributary -n '__fish_seen_subcommand_from ${name}' -l ${long.slice(2)} -d ${quote(description)}${values}`;
    }),
  ]);
  return ["# fish completion for tributary", ...lines].join("\n");
}
