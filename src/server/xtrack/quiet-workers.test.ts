import { join } from "node:path";
import { expect, it } from "vitest";
import { DocumentClient } from "../../../tests/clients/xtrack-document-client.ts";
import { makeFolder } from "../../../tests/support/folder.ts";
import { eventually } from "../../../tests/support/several.ts";
import { outgoingLimitsDefault } from "./outgoing.ts";
import { openSmallCollector } from "./small-collector.testing.ts";
import { createSocketServer } from "./sockets.ts";

it("acks what a quiet worker sends while one who sends much has filled the journal and waits", async () => {
  const dir = makeFolder();
  const journal = { segmentBytesMax: 1_000_000, budgetBytes: 2_000_000 };
  const collector = await openSmallCollector({ dir: join(dir, "journal"), journal });
  const server = await createSocketServer({
    listen: { host: "127.0.0.1", port: 0 },
    connectionsMax: 10,
    rules: { acks: "asked", firstFrameTimeoutMs: 5000, pendingBytesMax: 1_000_000, outgoing: outgoingLimitsDefault },
    counters: collector.counters,
    ports: {
      sink: collector.sink,
      gate: { admit: () => ({ workspace: "default", source: "local" }) },
      nowUs: () => Date.now() * 1000,
      desk: { hearAck: () => undefined, attach: () => () => undefined },
    },
  });
  const loud = await DocumentClient.connect(server.address, { runId: "loud", accepts: ["ack"] });
  loud.runStart();
  const events = 40_000;
  for (let step = 1; step <= events; step++) loud.metric("loss", 1, step);
  await eventually(() => collector.intake.isCrowded() && collector.counters.pauses > 0);
  const quiet = await DocumentClient.connect(server.address, { runId: "quiet", accepts: ["ack"] });
  quiet.runStart();
  for (let step = 1; step <= 20; step++) {
    quiet.metric("loss", 1, step);
    await quiet.until(() => quiet.acks.length === step + 1);
  }
  expect(collector.intake.isCrowded()).toBe(true);
  expect(loud.acks.length).toBeLessThan(events);
  expect(collector.intake.counters.lost).toBe(0);
  loud.socket.destroy();
  quiet.socket.destroy();
  await server.close();
  await collector.close();
});
