// When the XTrack side of the SDK connects again after a connection has ended.

import { type AddressInfo, connect, createServer, type Server } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { startRun } from "../../src/emit/xtrack.ts";
import { startCollector } from "./collector.ts";

const quick = { source: false, env: false, spool: false } as const;

it("tries less and less often when connections end before the collector has said anything", async () => {
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    socket.on("error", () => undefined);
    socket.destroy();
  });
  const port = await listen(server);
  const run = startRun({ id: "r", ...quick, transport: { kind: "tcp", host: "127.0.0.1", port } });
  await sleep(3000);
  await run.end({ timeoutMs: 1 });
  expect(connections).toBeLessThan(8);
});

it("does not wait out a long pause between two tries when the program ends", async () => {
  const collector = await startCollector();
  let tries = 0;
  let isBack = false;
  const line = createServer((near) => {
    tries++;
    near.on("error", () => undefined);
    if (isBack) near.pipe(connect(collector.port, "127.0.0.1")).pipe(near);
    else near.destroy();
  });
  const port = await listen(line);
  const run = startRun({ id: "r", ...quick, transport: { kind: "tcp", host: "127.0.0.1", port } });
  await expect.poll(() => tries, { timeout: 30_000 }).toBe(6);
  isBack = true;
  // The next try would be due after three seconds.
  await run.end({ timeoutMs: 2500 });
  expect(collector.events.map((event) => event.t)).toContain("run_end");
});

/** On a free port, until the test is over. */
async function listen(server: Server): Promise<number> {
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}
