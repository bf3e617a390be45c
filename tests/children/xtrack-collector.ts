// A collector with its XTrack doors open, in a process of its own that can be killed. Its parent forks it with a data
// folder; it says `{port}` when it listens and answers "drain" with what it holds once everything can be queried.

import { join } from "node:path";
import { nowNs } from "#base/clock.ts";
import { defaultJsonLimits } from "#base/json/value.ts";
import { toGroupKey } from "#intake/xtrack/apply.ts";
import { decodeXtrack } from "#intake/xtrack/stream.ts";
import { openCollector } from "#server/collector/collector.ts";
import { createCommandRoom } from "#server/collector/commands.ts";
import { createAccess } from "#server/http/access.ts";
import { openXtrackDoors } from "#server/xtrack/doors.ts";
import { createFsBlobs } from "#store/blobs/fs-blobs.ts";

const dataDir = process.argv[2] as string;
const room = createCommandRoom();
const fail = (cause: unknown): never => {
  throw cause;
};
const collector = await openCollector({
  dataDir,
  store: { kind: "embedded", dataDir },
  openBlobs: () => createFsBlobs(join(dataDir, "blobs")),
  sessionGapNs: 600_000_000_000n,
  json: defaultJsonLimits,
  journalBudgetBytes: 8 * 1024 ** 3,
  pendingBytesMax: 64 * 1024 * 1024,
  listeners: [room.listener],
  onTrouble: (message, cause) => console.error(message, cause),
  onFatal: fail,
});
const control = await room.open(collector, fail);
const doors = await openXtrackDoors({
  config: {
    xtrackAddress: { host: "127.0.0.1", port: 0 },
    xtrackUnixPath: "",
    xtrackAcks: "asked",
    xtrackConnectionsMax: 1000,
    firstFrameTimeoutMs: 30_000,
    frameBytesMax: 64 * 1024 * 1024,
    memoryBudgetBytes: 256 * 1024 * 1024,
  },
  access: createAccess({
    keys: { list: () => [], add: async () => undefined, revoke: async () => false, noteUse: () => undefined },
    loginSecret: new Uint8Array(32),
    loopback: "open",
    workspace: "default",
  }),
  intake: {
    submit: (input, decoded) => collector.submit(input, decoded),
    decode: decodeXtrack,
    runOf: (workspace, runId) => collector.applier.runOf(toGroupKey(workspace, runId)) ?? runId,
    nowNs,
  },
  desk: control,
});

async function report(): Promise<object> {
  await collector.drained();
  const sql = "SELECT count() AS n, uniqExact(worker, seq) AS distinct FROM tributary.metrics";
  const [counts] = await collector.store.query<{ n: string; distinct: string }>({ sql });
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
