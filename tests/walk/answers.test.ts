// Answers of workers to commands that came when nobody could note what they mean: the process was killed between the
// answer and the note. The next one finds them.

import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { summarize } from "#control/book.ts";
import type { Control } from "#control/control.ts";
import { type CommandRoom, createCommandRoom } from "#server/collector/commands.ts";
import { cirronInput, createTestCollector, submitted, type TestCollector } from "../support/collector.ts";
import { toFrame } from "../support/frames.ts";
import { eventually } from "../support/several.ts";

let seq = 1;
let node: TestCollector;
let room: CommandRoom | null = null;
let open: Control | null = null;
beforeAll(async () => {
  node = await createTestCollector(() => (entry) => room?.listener(entry));
});
afterEach(() => {
  open?.close();
  room = null;
});
afterAll(() => node.remove());

async function openRoom(): Promise<Control> {
  const next = createCommandRoom();
  const control = await next.open(node.collector);
  room = next;
  open = control;
  return control;
}

function send(...frames: readonly Buffer[]) {
  return submitted(node.collector, cirronInput(Buffer.concat(frames), { kind: "xtrack_frames" }));
}

function answerTo(cmdId: string, more: object = {}): Buffer {
  const payload = { run_id: "steered", seq: 0, cmd_id: cmdId, status: "ok", ...more };
  return toFrame({ type: "ack", seq: seq++, ts: 2, wid: "w0", payload });
}

/** A command that was handed to the worker, by a process that heard no more of it. */
async function deliver(): Promise<string> {
  await send(
    toFrame({ type: "status", seq: seq++, ts: 1, wid: "w0", payload: { run_id: "steered", status: "training" } }),
  );
  const control = await openRoom();
  control.attach("default", "steered", "w0", { send: async () => true });
  const order = { workspace: "default", runId: "steered", type: "custom", author: "ada", worker: "w0" };
  const command = await control.post(order);
  if ("refused" in command) throw new Error(command.message);
  await eventually(() => stateOf(control, command.cmdId) === "delivered", "it was not delivered");
  await node.collector.drained();
  control.close();
  room = null;
  return command.cmdId;
}

function stateOf(control: Control, cmdId: string): string {
  const command = control.list("default", "steered").find((one) => one.cmdId === cmdId);
  return command === undefined ? "none" : summarize(command).state;
}

test("an answer that was stored and not noted settles the command at the next start", async () => {
  const [obeyed, refused] = [await deliver(), await deliver()];
  await send(answerTo(obeyed), answerTo(refused, { status: "error", error: "not now" }));
  await node.collector.drained();
  const control = await openRoom();
  await eventually(() => stateOf(control, obeyed) === "confirmed", "the stored answer was not found");
  await eventually(() => stateOf(control, refused) === "refused", "the stored refusal was not found");
  expect(control.unanswered()).toEqual([]);
});

test("an answer that is given again counts, though its event is known", async () => {
  const cmdId = await deliver();
  const control = await openRoom();
  const hear = room;
  room = null;
  const answer = answerTo(cmdId);
  await send(answer);
  expect(stateOf(control, cmdId)).toBe("delivered");
  room = hear;
  expect(await send(answer)).toMatchObject({ duplicates: 1 });
  await eventually(() => stateOf(control, cmdId) === "confirmed", "the copy was not heard");
});
