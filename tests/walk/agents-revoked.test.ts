// What an agent is waiting for ends when its key is revoked, in both versions of the protocol.

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { beforeAll, expect, test } from "vitest";
import { suiteApp } from "../support/app.ts";
import { toFrame } from "../support/frames.ts";

const walk = suiteApp();
beforeAll(async () => {
  const ts = 1_700_000_000_000_000;
  await walk.post("/v1/xtrack?wait=1", toFrame({ type: "run_start", seq: 1, ts, payload: { run_id: "quiet" } }));
});

interface MadeKey {
  readonly id: string;
  readonly key: string;
}

async function makeKey(): Promise<MadeKey> {
  const { body } = await walk.post("/api/v1/keys", JSON.stringify({ name: "agent", scopes: ["read"] }));
  return body as MadeKey;
}

async function revoke({ id }: MadeKey): Promise<void> {
  await fetch(`${walk.app.url}/api/v1/keys/${id}`, { method: "DELETE" });
}

/** Nothing happens to the run any more, so that watching it takes longer than the test may. */
async function toQuietWatch(): Promise<Record<string, unknown>> {
  const { as_of: cursor } = (await walk.get("/api/v1/runs/quiet")).body as { as_of: string };
  return { run: "quiet", cursor, wait_s: 50 };
}

const listeners = () => walk.app.collector.hub.subscriberCount;

test("a call of the current version is told why it ends", async () => {
  const made = await makeKey();
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
  const headers = { authorization: `Bearer ${made.key}` };
  await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", walk.app.url), { requestInit: { headers } }));
  const failed = client.callTool({ name: "watch_run", arguments: await toQuietWatch() }).then(
    () => "an answer",
    (error: unknown) => String(error),
  );
  await expect.poll(listeners, { timeout: 10_000 }).toBe(1);
  await revoke(made);
  expect(await failed).toContain("The key was revoked");
  await expect.poll(listeners).toBe(0);
  await client.close();
});

test("the stream of a call of the version before ends", async () => {
  const made = await makeKey();
  const params = { name: "watch_run", arguments: await toQuietWatch() };
  const stream = await fetch(`${walk.app.url}/mcp`, {
    method: "POST",
    headers: {
      ...{ "content-type": "application/json", accept: "application/json, text/event-stream" },
      ...{ authorization: `Bearer ${made.key}`, "mcp-protocol-version": "2025-11-25" },
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
  });
  expect(stream.headers.get("content-type")).toContain("text/event-stream");
  await expect.poll(listeners, { timeout: 10_000 }).toBe(1);
  await revoke(made);
  expect(await stream.text()).not.toContain('"result"');
  await expect.poll(listeners).toBe(0);
});
