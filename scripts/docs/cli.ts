// docs/cli.md: every command with its help, from the command line itself.

import { Command } from "commander";
import type { Context } from "#cli/context.ts";
import { createProgram } from "#cli/program.ts";

const head = `# The command line

The installed package has the command \`tributary\`. In a checkout it is \`bin/tributary\`, which works from any folder: use
\`export PATH="$PWD/bin:$PATH"\`, or \`npm link\` once.

Commands talk to the server at \`--server\` or \`TRIBUTARY_SERVER\`, by default http://127.0.0.1:7077. If you name none, none
answers and the data folder is free, they open the folder themselves. \`check\` needs neither. \`run\` also works without a
server: it keeps what it records, and the next \`up\` or \`run\` imports it. Every listing has \`--json\`. Tables are cut to the
width of a terminal and complete in a file. Colours appear only on a terminal, and \`NO_COLOR\` turns them off.

| exit code | meaning |
| --- | --- |
| 0 | success |
| 1 | the answer is no: faults were found, a run failed or got lost, a command was refused, nothing matched, a backup is damaged |
| 2 | wrong usage, a path that is not there, or a mistake in the settings |
| 3 | the server, the store or the network is away |
| other | \`tributary run\` exits with the program's code, or with 128 plus the signal's number if it was killed |

Completion: \`tributary completion bash|zsh|fish\` prints a script for your shell.

\`npm run docs\` generates this page from the commands' own help.
`;

const context = { stdout: { columns: 100 }, stderr: { columns: 100 }, env: {} } as unknown as Context;
const program = await createProgram(context);

export function toCliPage(): string {
  return head + program.commands.flatMap((command) => toSections(command, "tributary")).join("");
}

function toSections(command: Command, parent: string): string[] {
  const name = `${parent} ${command.name()}`;
  // What is added after the help is printed by an event, not by the help itself.
  let help = "";
  command.configureOutput({
    writeOut: (text) => (help += text),
    getOutHelpWidth: () => 100,
    getOutHasColors: () => false,
  });
  command.outputHelp();
  const section = `\n## ${name}\n\n\`\`\`\n${help.trim()}\n\`\`\`\n`;
  return [
    section,
    ...command.commands.filter((child) => child instanceof Command).flatMap((child) => toSections(child, name)),
  ];
}
