import { once } from "node:events";
import { connect } from "node:net";
import { join } from "node:path";
import { expect, it } from "vitest";
import { encode } from "../../../tests/clients/xtrack-document-client.ts";
import { makeFolder } from "../../../tests/support/folder.ts";
import { listenFor, openSmallCollector, rowsOf } from "./small-collector.testing.ts";

it("loses nothing of workers that send faster than the disk takes, though they do not wait for acks", async () => {
  const dir = makeFolder();
  const collector = await openSmallCollector({
    dir: join(dir, "journal"),
    journal: { waitingBytesMax: 64 * 1024 },
    gatheredBytesMax: 300_000,
    heldBytesMax: 400_000,
  });
  const server = await listenFor(collector);
  const { port } = server.address as { port: number };
  const events = 10_000;
  const workers = ["a", "b", "c"];
  const send = async (wid: string): Promise<void> => {
    const socket = connect(port, "127.0.0.1");
    const frames = Array.from({ length: events }, (_, at) => {
      const m = { seq: at + 1, ts: at + 1, wid };
      return encode({ v: 1, t: "metric", m, p: { run_id: "r", key: "loss", value: at, step: at } });
    });
    socket.end(Buffer.concat(frames));
    await once(socket.resume(), "close");
  };
  await Promise.all(workers.map(send));
  expect(collector.counters.pauses).toBeGreaterThan(0);
  expect(collector.intake.counters).toMatchObject({ lost: 0, gatheredBytes: 0, flyingBytes: 0, heldBytes: 0 });
  const rows = rowsOf(collector.applied, "metrics");
  expect(rows.length).toBe(workers.length * events);
  expect(new Set(rows.map(({ worker, seq }) => `${worker} ${seq}`)).size).toBe(rows.length);
  expect(rows.filter(({ seq, step, value }) => Number(seq) !== Number(step) + 1 || Number(step) !== value)).toEqual([]);
  await server.close();
  await collector.close();
});
