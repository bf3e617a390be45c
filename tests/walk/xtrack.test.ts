// From a worker's socket through the journal and the real engine to rows that can be queried, and back by a command.

import { afterAll, beforeAll, expect, test } from "vitest";
import { summarize } from "#control/book.ts";
import type { Control } from "#control/control.ts";
import { type CommandRoom, createCommandRoom } from "#server/collector/commands.ts";
import type { XtrackDoors } from "#server/xtrack/doors.ts";
import { type Address, DocumentClient } from "../clients/xtrack-document-client.ts";
import { askStore } from "../support/ask-store.ts";
import { createTestCollector, type TestCollector } from "../support/collector.ts";
import { openTestDoors } from "../support/xtrack-doors.ts";

let walk: TestCollector;
let room: CommandRoom;
let control: Control;
let doors: XtrackDoors;

async function openDoors(): Promise<void> {
  const { collector } = walk;
  control = await room.open(collector);
  doors = await openTestDoors(collector, control, `${walk.dataDir}/x.sock`);
}

async function closeDoors(): Promise<void> {
  await doors.close();
  control.close();
}

beforeAll(async () => {
  walk = await createTestCollector(() => {
    room = createCommandRoom();
    return room.listener;
  });
  await openDoors();
});
afterAll(async () => {
  await closeDoors();
  await walk.remove();
});

const query = <T>(sql: string) => askStore<T>(walk.collector.store, { sql });
const states = () => control.list("default", "job").map((command) => summarize(command).state);

test("a job is stored while it runs, is steered, and is the same after a restart in the middle", async () => {
  const [tcp, unix] = doors.addresses as [Address, Address];
  const options = { runId: "job", wid: "w0", accepts: ["ack", "command"] };
  const client = await DocumentClient.connect(tcp, options);
  client.runStart();
  for (let step = 1; step <= 2000; step++) client.metric("loss", 1 / step, step);
  await client.until(() => client.acks.length === 2001);
  await walk.collector.drained();
  const metrics = "SELECT count() AS n, min(value) AS least FROM tributary.metrics WHERE group_key = 'default/x/job'";
  expect(await query(metrics)).toEqual([{ n: "2000", least: 1 / 2000 }]);
  expect(doors.presence.workersOf("default", "job")).toEqual(["w0"]);

  await control.post({ workspace: "default", runId: "job", type: "pause", author: "ada" });
  await client.until(() => client.commands.length === 1);
  client.emit("status", { status: "paused" });
  await client.until(() => states()[0] === "confirmed", "the confirmation");
  await control.post({ workspace: "default", runId: "job", type: "resume", worker: "w1", author: "ada" });

  await closeDoors();
  await walk.reopen();
  await openDoors();
  expect(states()).toEqual(["confirmed", "queued"]);
  const again = await DocumentClient.connect(doors.addresses[1] ?? unix, { ...options, firstSeq: client.nextSeq });
  for (const event of client.sent.slice(-100)) again.send(event);
  const other = await DocumentClient.connect(doors.addresses[0] as Address, { ...options, wid: "w1" });
  other.runStart();
  await other.until(() => other.commands.length === 1, "the command that waited");
  other.confirm(other.commands[0]?.p["cmd_id"]);
  await other.until(() => states()[1] === "confirmed", "the confirmation");
  again.emit("ack", { seq: 0, status: "ok" });
  const end = again.runEnd();
  await again.until(() => again.acks.some(({ p }) => p["seq"] === end.m.seq));
  await Promise.all([again.end(), other.end()]);
  await walk.collector.drained();
  expect(await query(metrics)).toEqual([{ n: "2000", least: 1 / 2000 }]);
  const steps = "SELECT worker, state, author FROM tributary.commands FINAL ORDER BY at_ns, worker, state";
  expect((await query<{ state: string }>(steps)).map(({ state }) => state).sort()).toEqual(
    ["queued", "queued", "delivered", "confirmed", "queued", "delivered", "confirmed"].sort(),
  );
  const audit = await query("SELECT author, action FROM tributary.audit FINAL WHERE action LIKE 'command%'");
  expect(audit).toEqual([
    { author: "ada", action: "command_sent" },
    { author: "ada", action: "command_sent" },
  ]);
});
