// tributary send: a command to the workers of a running job.

import { setTimeout as sleep } from "node:timers/promises";
import { Argument, type Command } from "commander";
import { CommandType, type Command as SentCommand } from "#api/contract/command.ts";
import { wordsOf } from "#api/contract/scalar.ts";
import { given } from "#base/given.ts";
import { parseTyped } from "#base/json/as-typed.ts";
import { askServer, type ConnectOptions } from "#cli/connect.ts";
import type { Context } from "#cli/context.ts";
import { Exit, exitCodes } from "#cli/exit.ts";
import { toCount } from "#cli/options.ts";
import { printJson, printLine } from "#cli/print.ts";

interface SendOptions extends ConnectOptions {
  readonly payload?: string;
  readonly worker?: string;
  readonly reason?: string;
  readonly wait: number;
}

const settled = new Set(["confirmed", "refused", "expired", "cancelled"]);

export function addSend(program: Command, context: Context): void {
  const command = program
    .command("send")
    .summary("send a command to a running job")
    .description("Sends a command to the workers of a run that accept commands, and waits for their answer.")
    .argument("<run>", "id or alias")
    .addArgument(new Argument("<command>", "what to do").choices(wordsOf(CommandType)))
    .option("--payload <json>", "what the command needs, e.g. '{\"lr\": 0.001}'")
    .option("--worker <id>", "only this worker")
    .option("--reason <text>", "why, for the audit")
    .option("--wait <seconds>", "how long to wait for an answer; 0 does not wait", toCount, 30)
    .addHelpText("after", "\nExample:\n  tributary send my-run adjust_lr --payload '{\"lr\": 0.0001}'\n");
  askServer(context, command, async (client, options: SendOptions, id: string, type: CommandType) => {
    const { worker, reason } = options;
    const body = { type, ...given({ payload: parsePayload(options.payload), worker, reason }) };
    const answer = await client.call("sendCommand", { params: { id }, body });
    let sent: SentCommand[] = [answer, ...answer.also];
    const deadline = Date.now() + options.wait * 1000;
    const look = async () => {
      const { commands, how: why } = await client.call("commands", { params: { id } });
      sent = sent.map((each) => commands.find((one) => one.id === each.id) ?? each);
      return why;
    };
    const isSettled = () => sent.every(({ state }) => settled.has(state));
    // Does not wait for workers that cannot be reached.
    let how = await look();
    while (!isSettled() && how === "" && Date.now() < deadline && !context.stop.aborted) {
      await sleep(200, undefined, { signal: context.stop }).catch(() => undefined);
      how = await look();
    }
    if (options.json) printJson(context, { ...sent[0], also: sent.slice(1), how });
    else for (const each of sent) printLine(context, describe(each, sent.length > 1));
    if (!isSettled() && how !== "") {
      throw new Exit(
        exitCodes.negative,
        "No worker of this run accepts commands at the moment; the command waits for one.",
        how,
      );
    }
    const unheeded = sent.find(({ state }) => state === "refused" || state === "expired");
    if (unheeded !== undefined) throw new Exit(exitCodes.negative, `The command was ${unheeded.state}.`);
  });
}

/** Of joined runs each has its own. */
function describe({ run, type, state, note }: SentCommand, isJoined: boolean): string {
  return `${isJoined ? `${run}: ` : ""}${type} ${state}${note === "" ? "" : `: ${note}`}`;
}

function parsePayload(text: string | undefined): Record<string, unknown> | undefined {
  if (text === undefined) return undefined;
  try {
    const payload: unknown = parseTyped(text);
    if (typeof payload === "object" && payload !== null && !Array.isArray(payload))
      return payload as Record<string, unknown>;
  } catch {
    // Refused below.
  }
  throw new Exit(exitCodes.usage, "--payload must be a JSON object.");
}
