// A person who steers a worker: gives command after command, and repeats those that were not answered.

import { setTimeout as sleep } from "node:timers/promises";
import type { ListedCommand } from "./command-ledger.ts";
import { call, type Field } from "./deliver.ts";

export const steeredRun = "steered";
const path = `/api/v1/runs/${steeredRun}/commands`;

export async function sendCommands(field: Field): Promise<void> {
  for (let number = 1; !field.stopped.aborted; number++) {
    field.commands.give(number);
    const id = await give(field, number);
    if (id !== null) field.commands.accept(id, number);
    await sleep(300);
  }
  field.commands.isOver = true;
}

/** Null when there was no answer. */
export async function listCommands(field: Pick<Field, "victim">): Promise<ListedCommand[] | null> {
  const answer = await call(field, path);
  if (answer?.status !== 200) return null;
  return (JSON.parse(answer.bytes.toString()) as { commands: ListedCommand[] }).commands;
}

/** Repeats the command until it is accepted; null when the campaign ended first. */
async function give(field: Field, number: number): Promise<string | null> {
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ type: "custom", payload: { number }, idempotency_key: `order ${number}` });
  for (; !field.stopped.aborted; await sleep(100)) {
    const answer = await call(field, path, { method: "POST", headers, body });
    if (answer?.status === 202) return (JSON.parse(answer.bytes.toString()) as { id: string }).id;
    // The run is known once its first rows are stored.
    if (answer !== null && answer.status < 500 && answer.status !== 429 && answer.status !== 404)
      throw new Error(`a command was answered with ${answer.status}: ${answer.bytes.toString("utf8", 0, 500)}`);
  }
  return null;
}
