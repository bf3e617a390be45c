import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { DiskOutage } from "#base/disk-outage.ts";
import { createClient } from "#cli/client.ts";
import type { Input } from "#intake/input.ts";
import { type OpenServer, openServer } from "#server/http/open-server.testing.ts";
import { encodeFrame } from "#wire/xtrack/frames.testing.ts";
import { importPaths } from "./import.ts";

let server: OpenServer;
let folder: string;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "tributary-import-"));
  server = await openServer();
});
afterEach(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

function importNow(paths: string[], more: Partial<Parameters<typeof importPaths>[0]>) {
  const client = createClient(server.url, "");
  const stop = new AbortController().signal;
  return importPaths({ client, paths, speed: "instant", follow: false, stop, ...more });
}

const bytesOf = (inputs: readonly Input[]) => Buffer.concat(inputs.map(({ body }) => Buffer.from(body)));
const metric = encodeFrame("metric", { seq: 2, ts: 2 }, { run_id: "r", key: "loss", value: 2, step: 2 } as never);
const start = encodeFrame("run_start", { seq: 1, ts: 1 }, { run_id: { id: "r", exp_id: null } } as never);

describe("a server that goes away", () => {
  it("ends an import, but not one that follows: it goes on when the server is back", async () => {
    const { port } = server.server.address;
    const file = join(folder, "live.bin");
    writeFileSync(file, start);
    const stop = new AbortController();
    const said: string[] = [];
    const following = importNow([file], { follow: true, stop: stop.signal, onWait: (reason) => said.push(reason) });
    await expect.poll(() => server.inputs.length, { timeout: 5000 }).toBe(1);
    await server.close();
    appendFileSync(file, metric);
    await expect.poll(() => said.length, { timeout: 5000 }).toBeGreaterThan(0);
    server = await openServer({ flags: { httpAddress: `127.0.0.1:${port}` } });
    await expect.poll(() => server.inputs.length, { timeout: 5000 }).toBe(1);
    stop.abort();
    expect(await following).toMatchObject({ files: 1 });
    expect(bytesOf(server.inputs).equals(Buffer.from(metric))).toBe(true);
  });
});

describe("a server whose disk is full", () => {
  it("is waited for, which is said, and not any longer once the import is to stop", async () => {
    await server.close();
    const full = new DiskOutage("disk_full", "The journal could not be written.", {});
    server = await openServer();
    server.respond = () => Promise.reject(full);
    writeFileSync(join(folder, "a.bin"), start);
    const said: string[] = [];
    const stop = new AbortController();
    const told = Promise.withResolvers<void>();
    const onWait = (reason: string) => {
      said.push(reason);
      told.resolve();
    };
    const importing = importNow([folder], { stop: stop.signal, onWait });
    await told.promise;
    stop.abort();
    await expect(importing).rejects.toThrow("The disk of the data folder is full.");
    expect(said).toEqual(["The disk of the data folder is full."]);
  });
});
