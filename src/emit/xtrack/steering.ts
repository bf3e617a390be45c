// Commands from the collector: each is passed to its handler once, and answered with an ack that names it.

import { formatValue } from "#emit/json-text.ts";
import type { words } from "#wire/xtrack/messages.ts";

export type CommandType = (typeof words.command)[number];

export interface Command {
  readonly id: string;
  readonly type: CommandType;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** Returning confirms the command; throwing (or rejecting) refuses it with the error's message. */
export type CommandHandler = (command: Command) => void | Promise<void>;

/** Sends the `p` of an ack frame, as JSON text without its braces. */
export type Answer = (fieldsJson: string) => void;

const answersMax = 1000;

export class Steering {
  private readonly handlers = new Map<string, CommandHandler>();
  private readonly answers = new Map<string, Promise<string>>();
  private readonly answer: Answer;

  constructor(answer: Answer) {
    this.answer = answer;
  }

  /** Resolves when every command so far has its answer. */
  async settled(): Promise<void> {
    await Promise.all(this.answers.values());
  }

  on(type: CommandType, handler: CommandHandler): void {
    this.handlers.set(type, handler);
  }

  /** A repeated command, whose first answer was lost, is answered again and not carried out twice. */
  take(seq: unknown, payload: Readonly<Record<string, unknown>>): void {
    const id = typeof payload["cmd_id"] === "string" ? payload["cmd_id"] : "";
    let outcome = this.answers.get(id);
    if (outcome === undefined || id === "") {
      outcome = this.obey(id, payload);
      this.answers.set(id, outcome);
      if (this.answers.size > answersMax) this.answers.delete(this.answers.keys().next().value as string);
    }
    void outcome.then((result) => {
      const number = typeof seq === "number" ? seq : 0;
      this.answer(`"seq":${number},${result},"cmd_id":${JSON.stringify(id)}`);
    });
  }

  private async obey(id: string, fields: Readonly<Record<string, unknown>>): Promise<string> {
    const type = String(fields["type"]) as CommandType;
    const handler = this.handlers.get(type);
    if (handler === undefined) return refusal(`this program does not handle ${type}`);
    const given = fields["payload"];
    const payload = typeof given === "object" && given !== null ? (given as Record<string, unknown>) : {};
    try {
      await handler({ id, type, payload });
      return '"status":"ok","error":null';
    } catch (error) {
      return refusal(error instanceof Error ? error.message : formatValue(error));
    }
  }
}

function refusal(reason: string): string {
  return `"status":"error","error":${JSON.stringify(reason.slice(0, 500))}`;
}
