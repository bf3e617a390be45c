// What an agent may do to a run if its key allows it: send commands to workers, and add notes and tags for people.

import { cut, rowsMax } from "#agent/bound.ts";
import { count, toTime } from "#agent/measures.ts";
import { ToolMistake } from "#agent/mistake.ts";
import { defineTool, runInput } from "#agent/tool.ts";
import { type Command, CommandType } from "#api/contract/command.ts";
import { Type } from "#api/contract/schema.ts";
import { given } from "#base/given.ts";

export const sendCommand = defineTool(
  {
    name: "send_command",
    title: "Send a command",
    scope: "control",
    description:
      "Sends a command to the workers of a running job, for example stop, checkpoint_now, or adjust_lr with the payload " +
      '{"lr": 0.0001}. The reason is kept with it. get_command says what became of it.',
  },
  {
    run: runInput,
    command: CommandType,
    payload: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    worker: Type.Optional(Type.String({ description: "One worker; default: all that accept commands." })),
    reason: Type.String({ minLength: 1, maxLength: 1000, description: "Why, with the evidence; people read it." }),
  },
  async (api, { run, command: type, payload, worker, reason }) => {
    const command = await api.call("sendCommand", {
      params: { id: run },
      body: { type, reason, ...given({ payload, worker }) },
    });
    const { accepting, how } = await api.call("commands", { params: { id: run } });
    const text = accepting.length === 0 ? `${type} is queued: ${how}` : `${type} is ${command.state}.`;
    const also = command.also.map(toCommand);
    return { text, data: { command: toCommand(command), also, takes_commands: accepting } };
  },
);

export const getCommand = defineTool(
  {
    name: "get_command",
    title: "Get a command",
    scope: "read",
    description: "The state of a command, and why it was sent; without an id, the latest commands of the run.",
  },
  { run: runInput, id: Type.Optional(Type.String()) },
  async (api, { run, id }) => {
    const { commands, accepting } = await api.call("commands", { params: { id: run } });
    if (id === undefined) {
      const latest = commands.slice(-rowsMax).toReversed().map(toCommand);
      return { text: `${count(commands.length, "command")}.`, data: { commands: latest, takes_commands: accepting } };
    }
    const found = commands.find((command) => command.id === id);
    if (found === undefined) throw new ToolMistake(`This run has no command ${JSON.stringify(id)}.`);
    const note = found.note === "" ? "" : `: ${cut(found.note)}`;
    return {
      text: `${found.type} is ${found.state}${note}.`,
      data: { command: toCommand(found), takes_commands: accepting },
    };
  },
);

function toCommand({ id, run, type, payload, worker, state, by, reason, note, ...times }: Command) {
  return {
    ...{ id, run, type, payload: cut(payload, 1000), worker, state, by },
    ...{ reason: cut(reason, 1000), note: cut(note, 1000) },
    created: toTime(times.created_ns),
    delivered: toTime(times.delivered_ns),
    settled: toTime(times.settled_ns),
  };
}

export const annotate = defineTool(
  {
    name: "annotate",
    title: "Annotate a run",
    scope: "control",
    description: "Adds a line to the notes of a run, or adds tags, for people to see; existing notes and tags stay.",
  },
  {
    run: runInput,
    text: Type.Optional(Type.String({ minLength: 1, maxLength: 4000 })),
    step: Type.Optional(Type.Integer({ description: "The step that the text is about." })),
    tags: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 256 }), { minItems: 1, maxItems: 16 })),
  },
  async (api, { run: id, text, step, tags }) => {
    if (text === undefined && tags === undefined) throw new ToolMistake("Give a text or tags.");
    const before = await api.call("run", { params: { id } });
    const line = text === undefined ? undefined : `${step === undefined ? "" : `Step ${step}: `}${text}`;
    const notes = line === undefined ? undefined : before.notes === "" ? line : `${before.notes}\n${line}`;
    const all = tags === undefined ? undefined : [...new Set([...before.tags, ...tags])];
    const after = await api.call("patchRun", { params: { id }, body: given({ notes, tags: all }) });
    return {
      text: `${after.name} is annotated.`,
      data: { run: after.id, notes: cut(after.notes, 4000), tags: after.tags },
    };
  },
);
