// Control of a running job.

import type { Static } from "typebox";
import { commandStates, commandTypes } from "#control/command.ts";
import { AsOf, JsonText, nullable, TimeNs, word } from "./scalar.ts";
import { strict, Type } from "./schema.ts";

export const CommandType = word(commandTypes);
export type CommandType = Static<typeof CommandType>;

/** queued → delivered (bytes written to the worker) → confirmed or refused by the worker; or expired, cancelled. */
export const CommandState = word(commandStates);

export const Command = Type.Object({
  id: Type.String(),
  run: Type.String({ description: "The run that its workers name; one of the runs, if several are joined." }),
  type: CommandType,
  payload: JsonText,
  /** Null means every worker that accepts commands. */
  worker: nullable(Type.String()),
  state: CommandState,
  by: Type.String(),
  reason: Type.String({ description: "Why it was sent; may be empty." }),
  created_ns: TimeNs,
  delivered_ns: nullable(TimeNs),
  settled_ns: nullable(TimeNs),
  /** What the worker answered, or why the command was given up. */
  note: Type.String(),
});
export type Command = Static<typeof Command>;

/** Workers hear only what is said to the run that they name, so of joined runs each gets a command of its own. */
export const SentCommand = Type.Object({
  ...Command.properties,
  also: Type.Array(Command, { description: "The same command for the workers of runs joined to this one." }),
});
export type SentCommand = Static<typeof SentCommand>;

export const CommandsAnswer = Type.Object({
  /** Workers connected now that asked for commands; of joined runs, those of each. */
  accepting: Type.Array(Type.String()),
  /** When nobody accepts: the sentence that says how to enable it. '' otherwise. */
  how: Type.String(),
  commands: Type.Array(Command),
  as_of: AsOf,
});

export const CommandBody = strict({
  type: CommandType,
  payload: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  worker: Type.Optional(Type.String()),
  reason: Type.Optional(Type.String({ maxLength: 1000, description: "Why; kept with the command and in the audit." })),
  idempotency_key: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description:
        "A string of your choice. Sent again with the same one, for example because no answer came, it is the same command.",
    }),
  ),
});
export type CommandBody = Static<typeof CommandBody>;

export const CommandPath = Type.Object({ id: Type.String({ minLength: 1 }), command: Type.String({ minLength: 1 }) });
