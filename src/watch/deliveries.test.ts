import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { Deliveries, type DeliveryRow } from "./deliveries.ts";
import type { Firing } from "./firing.ts";

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** It answers when the test says so. */
async function startReceiver() {
  const received: string[] = [];
  const open: ServerResponse[] = [];
  const server = createServer((request, response) => {
    received.push(String(request.headers["x-tributary-delivery"]));
    open.push(response);
    server.emit("got");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const get = async (count: number) => {
    while (received.length < count) await once(server, "got");
    return received;
  };
  const answer = (status: number) => open.shift()?.writeHead(status).end();
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, received, get, answer };
}

function start() {
  const rows: DeliveryRow[] = [];
  let nowNs = 1n;
  const deliveries = new Deliveries({
    collector: "c",
    secret: new Uint8Array(32),
    reach: { isPrivateAllowed: true, hosts: [] },
    mail: null,
    nowNs: () => nowNs++,
    linkOf: (runId) => `https://t.example/runs/${runId}`,
    change: async (changes) => {
      for (const { row } of changes) rows.push(row as DeliveryRow);
    },
    onTrouble: (message) => expect.fail(message),
  });
  closers.push(() => deliveries.close());
  const queue = (id: string, url: string, parts: Partial<Firing> = {}) => {
    const firing = { ...firingTo(url), id, runId: id, ...parts };
    const event = firing.resolvedNs === null ? "firing" : "resolved";
    deliveries.queue(deliveries.rowsFor(firing, event), firing, "gpt");
  };
  return { queue, rows };
}

function firingTo(url: string): Firing {
  return {
    id: "",
    workspace: "default",
    rule: "stalled",
    kind: "stall",
    runId: "r",
    isArmed: true,
    firedNs: 1n,
    resolvedNs: null,
    actions: { webhooks: [url], emails: [], commands: [] },
    outcome: "",
    text: "No new step.",
    evidence: [],
    at: { step: 1n, tsNs: 1n },
    metric: "",
  };
}

test("a receiver that hangs does not hold up messages to another one", async () => {
  const [hangs, other] = [await startReceiver(), await startReceiver()];
  const { queue } = start();
  queue("a", hangs.url);
  await hangs.get(1);
  queue("b", other.url);
  expect(await other.get(1)).toEqual(["b.firing.0"]);
});

test("a receiver gets one message at a time, in the order in which they came", async () => {
  const [receiver, other] = [await startReceiver(), await startReceiver()];
  const { queue } = start();
  for (const id of ["c", "a", "b"]) queue(id, receiver.url);
  queue("d", other.url);
  await other.get(1);
  for (let count = 1; count <= 3; count++) {
    expect(await receiver.get(count)).toHaveLength(count);
    receiver.answer(200);
  }
  expect(receiver.received).toEqual(["c.firing.0", "a.firing.0", "b.firing.0"]);
});

test("that a firing is resolved waits until the firing was taken, and other runs do not wait for it", async () => {
  const receiver = await startReceiver();
  const { queue, rows } = start();
  queue("a", receiver.url);
  await receiver.get(1);
  queue("a", receiver.url, { resolvedNs: 2n });
  queue("b", receiver.url);
  receiver.answer(503);
  expect(await receiver.get(2)).toEqual(["a.firing.0", "b.firing.0"]);
  expect(rows).toMatchObject([{ delivery_id: "a.firing.0", state: "queued", attempts: 1 }]);
});
