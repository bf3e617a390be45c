// Sends the commands of a firing, one after the other. What an earlier process or another firing has sent already shows in
// the run's list of commands.

import type { JsonObject } from "#base/json/value.ts";
import { type Command, summarize } from "#control/book.ts";
import type { Control } from "#control/control.ts";
import type { Rule } from "#judge/rule.ts";
import type { RunStatus } from "#query/runs/head.ts";
import type { Firing } from "./firing.ts";

export interface CommandPorts {
  readonly control: Pick<Control, "post" | "list">;
  /** Resolves after this time, or when the server closes. */
  wait(ms: number): Promise<void>;
  isClosing(): boolean;
  /** Whether people still want the rule to act. */
  isArmed(): boolean;
}

/** How long a command may keep the next one waiting: a checkpoint of a large model takes its time. */
const settleMsMax = 120_000;
const lookMs = 250;

const ended: ReadonlySet<RunStatus> = new Set(["completed", "failed", "killed"]);

/** The runs whose workers a firing is about: more than one when people joined them. */
export interface Steered {
  readonly status: RunStatus;
  /** Every run that the records name. */
  readonly own: readonly string[];
  /** Those whose workers take a command, or may. */
  readonly steered: readonly string[];
}

/** Resolves with the outcome as a sentence. */
export async function sendCommands(
  ports: CommandPorts,
  firing: Firing,
  rule: Pick<Rule, "again">,
  { status, own, steered }: Steered,
): Promise<string> {
  const { workspace } = firing;
  const ofRules = own
    .flatMap((run) => ports.control.list(workspace, run))
    .filter((command) => command.author.startsWith("rule:"));
  const mine = ofRules.filter((command) => isOf(command, firing));
  if (mine.length === 0 && ended.has(status)) return "Nothing was sent: the run had ended.";
  if (mine.length < ofRules.length && !rule.again) {
    const other = ofRules.find((command) => !isOf(command, firing)) as Command;
    return `Nothing was sent: ${other.author} has already sent ${other.type} to this run.`;
  }
  const mineOf = Map.groupBy(mine, ({ runId }) => runId);
  const runs = [...new Set([...mineOf.keys(), ...steered])];
  const said: string[] = [];
  for (const [at, { type, payload }] of firing.actions.commands.entries()) {
    const order = { workspace, type, author: authorOf(firing), payload: payload as JsonObject };
    const sent: Command[] = [];
    for (const runId of runs) {
      const isToCome = mineOf.get(runId)?.[at] === undefined;
      if (isToCome && !ports.isArmed())
        return [...said, `${type} was not sent: the rule is not armed any more`].join("; ");
      const command = mineOf.get(runId)?.[at] ?? (await ports.control.post({ ...order, runId }));
      if ("refused" in command) return [...said, `${type} was refused: ${command.message}`].join("; ");
      sent.push(command);
    }
    said.push(`${type}: ${await allSettled(ports, sent)}`);
    if (ports.isClosing()) break;
  }
  return said.join("; ");
}

/** The id tells one firing of a rule from another. */
function authorOf({ rule, id }: Firing): string {
  return `rule:${rule}#${id.slice(0, 8)}`;
}

function isOf(command: Command, firing: Firing): boolean {
  return command.author === authorOf(firing);
}

/** One outcome if all ended alike, else one for each run. */
async function allSettled(ports: CommandPorts, sent: readonly Command[]): Promise<string> {
  const outcomes = await Promise.all(sent.map((command) => settled(ports, command)));
  if (new Set(outcomes).size === 1) return outcomes[0] as string;
  return sent.map(({ runId }, at) => `${outcomes[at]} in ${runId}`).join(", ");
}

async function settled(ports: CommandPorts, { workspace, runId, cmdId }: Command): Promise<string> {
  for (let waited = 0; waited < settleMsMax && !ports.isClosing(); waited += lookMs) {
    const now = ports.control.list(workspace, runId).find((command) => command.cmdId === cmdId);
    if (now === undefined) return "no longer known";
    const { state, settledNs, note } = summarize(now);
    if (settledNs !== null) return note === "" ? state : `${state} (${note})`;
    await ports.wait(lookMs);
  }
  return "not answered yet";
}
