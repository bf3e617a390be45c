// A collector with its XTrack doors open, in a process of its own that can be killed. Its parent forks it with a data
// folder; it says `{port}` when it listens and answers "drain" with what it holds once everything can be queried.

import { createCommandRoom } from "#server/collector/commands.ts";
import { askStore } from "../support/ask-store.ts";
import { openTestCollector } from "../support/collector.ts";
import { openTestDoors } from "../support/xtrack-doors.ts";

const dataDir = process.argv[2] as string;
const room = createCommandRoom();
const collector = await openTestCollector(dataDir, room.listener);
const control = await room.open(collector);
const doors = await openTestDoors(collector, control);

async function report(): Promise<object> {
  await collector.drained();
  const sql = "SELECT count() AS n, uniqExact(worker, seq) AS distinct FROM tributary.metrics";
  const [counts] = await askStore<{ n: string; distinct: string }>(collector.store, { sql });
  const { heapUsed, rss, arrayBuffers } = process.memoryUsage();
  return { ...counts, lost: doors.records.lost, records: doors.records.records, heapUsed, rss, arrayBuffers };
}

process.on("message", async (message) => {
  if (message === "drain") process.send?.(await report());
  else if (message === "close") {
    await doors.close();
    control.close();
    await collector.close(10_000);
    process.disconnect();
  }
});
const listening = doors.addresses[0] as { port: number };
process.send?.({ port: listening.port });
