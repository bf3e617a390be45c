// docs/cli.md: every command with its help, from the command line itself.

import { Command } from "commander";
import type { Context } from "#cli/context.ts";
import { createProgram } from "#cli/program.ts";

const head = `# The command line

An installed package has the command \`tributary\`. In a checkout it is \`bin/tributary\`, which works from any folder:
\`export PATH="$PWD/bin:$PATH"\`, or \`npm link\` once.

Commands talk to the server at \`--server\` or \`TRIBUTARY_SERVER\`, by default http://127.0.0.1:7077. When none was named and
none answers, and the data folder is free, they open the folder themselves. \`check\` needs neither. \`run\` works without a
server too: it keeps what it records, and the next \`up\` or \`run\` takes it in. Every listing has \`--json\`; tables are cut
to the terminal and are whole when they go to a file. Colours come only on a terminal, and \`NO_COLOR\` turns them off.

| exit code | meaning |
| --- | --- |
| 0 | success |
| 1 | the answer is no: faults were found, a run failed, a command was refused, nothing matched |
| 2 | wrong use, or a mistake in the settings |
| 3 | the server, the store or the network is away |
| other | \`tributary run\` exits as the program did; 128 and the signal's number when it was killed |

Completion: \`tributary completion bash|zsh|fish\` prints a script for your shell.

This page is written from the commands' own help by \`npm run docs\`.
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
