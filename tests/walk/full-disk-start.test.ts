// A server that is started on a full disk, with a plan that the store had not taken when the last one was killed.

import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { toBatchText } from "../support/cirron-batch.ts";
import { CollectorProcess } from "../support/collector-process.ts";
import { childrenOf } from "../support/process-tree.ts";
import { eventually } from "../support/several.ts";
import { fill, mountDisk } from "../support/small-disk.ts";

/** Enough for an engine without much in it. */
const diskSize = "192m";

/** Who has the key that a server asks for since it was made. */
class Caller {
  private readonly url: string;
  private readonly headers: Record<string, string> = { "content-type": "application/json" };

  constructor(url: string) {
    this.url = url;
  }

  async makeKey(): Promise<void> {
    const answer = await this.post("/api/v1/keys", JSON.stringify({ name: "a", scopes: ["ingest", "admin"] }));
    this.headers["authorization"] = `Bearer ${((await answer.json()) as { key: string }).key}`;
  }

  async send(name: string): Promise<Response> {
    return this.post("/v1/traces", toBatchText(name, [{ id: name, parent: null, name, at: 1 }]));
  }

  async countSpans(): Promise<number> {
    const answer = await this.post("/api/v1/sql", JSON.stringify({ query: "SELECT count() FROM spans" }));
    return Number(((await answer.json()) as { rows: string[][] }).rows[0]?.[0]);
  }

  private post(path: string, body: string): Promise<Response> {
    return fetch(`${this.url}${path}`, { method: "POST", body, headers: this.headers });
  }
}

test("it listens, shows what is stored, says why it takes nothing, and goes on when there is room", async ({
  skip,
}) => {
  const disk = mountDisk(diskSize);
  if (disk === null) return skip("mounting a small disk needs root");
  const dataDir = join(disk, "data");
  const server = await CollectorProcess.make(dataDir, {});
  onTestFinished(() => server.kill());
  await server.start();
  const caller = new Caller(server.url);
  await caller.makeKey();
  expect((await caller.send("stored")).status).toBe(202);
  await fetch(`${server.url}/readyz?drained=1`);
  const engines = childrenOf(server.pid);
  for (const engine of engines) process.kill(engine, "SIGSTOP");
  expect((await caller.send("planned")).status).toBe(202);
  const hasPlan = (): boolean => readdirSync(join(dataDir, "outbox")).some((name) => name.endsWith(".plan"));
  await eventually(hasPlan, "no plan was made");
  expect((await caller.send("journalled")).status).toBe(202);
  await server.kill();
  for (const engine of engines) process.kill(engine, "SIGKILL");
  fill(join(disk, "filler"));

  await server.start();
  expect(await caller.countSpans()).toBe(1);
  const unready = await fetch(`${server.url}/readyz`);
  expect([unready.status, await unready.text()]).toEqual([503, expect.stringContaining("disk is full")]);
  const refused = await caller.send("refused");
  expect([refused.status, ((await refused.json()) as { code: string }).code]).toEqual([429, "disk_full"]);
  expect((await new Caller(server.url).send("refused")).status).toBe(401);

  rmSync(join(disk, "filler"));
  await eventually(async () => (await fetch(`${server.url}/readyz`)).ok, "it did not go on", 60_000);
  expect((await caller.send("refused")).status).toBe(202);
  await fetch(`${server.url}/readyz?drained=1`);
  expect(await caller.countSpans()).toBe(4);
});
