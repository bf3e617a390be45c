// What doctor says of the store, the bus and the bucket of several collectors.

import { once } from "node:events";
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runInTest } from "#cli/run-cli.testing.ts";
import { type S3Server, startS3 } from "../support/s3-server.ts";
import {
  freePort,
  type NatsServer,
  natsPath,
  type SharedStore,
  startNats,
  startSharedStore,
} from "../support/several.ts";
import { makeDataDir } from "../support/store-under-test.ts";

let folder: string;
let nats: NatsServer;
let shared: SharedStore;
let bucket: S3Server;
let settings: Record<string, string>;

/** What it says of the services, each as `what ok detail`. */
async function ask(more: Record<string, string> = {}): Promise<{ code: number; found: string[] }> {
  const env = { ...settings, ...more };
  const { code, out } = await runInTest(["doctor", "--data", join(folder, "none"), "--json"], { env });
  const findings = JSON.parse(out) as { what: string; ok: boolean; detail: string }[];
  const services = findings.filter(({ what }) => ["Store", "Bus", "Bucket"].includes(what));
  return { code, found: services.map(({ what, ok, detail }) => `${what} ${ok} ${detail}`) };
}

describe.skipIf(natsPath === undefined)("doctor", () => {
  beforeAll(async () => {
    folder = makeDataDir();
    nats = await startNats(["--user", "tributary", "--pass", "secret"]);
    [shared, bucket] = await Promise.all([startSharedStore(), startS3("traces")]);
    settings = {
      TRIBUTARY_HTTP: `127.0.0.1:${await freePort()}`,
      TRIBUTARY_XTRACK: "off",
      TRIBUTARY_STORE_URL: shared.url,
      TRIBUTARY_BUS_URL: nats.url,
      TRIBUTARY_BUS_USER: "tributary",
      TRIBUTARY_BUS_PASSWORD: "secret",
      TRIBUTARY_BLOBS_KIND: "s3",
      TRIBUTARY_BLOBS_ENDPOINT: bucket.url,
      TRIBUTARY_BLOBS_BUCKET: "traces",
      TRIBUTARY_BLOBS_ACCESS_KEY: "key",
      TRIBUTARY_BLOBS_SECRET_KEY: "secret",
    };
  });
  afterAll(async () => {
    await nats?.kill();
    await bucket?.close();
    await shared?.close();
    await rm(folder, { recursive: true, force: true });
  });

  test("finds nothing wrong where everything answers, and leaves nothing behind", async () => {
    expect((await ask()).found).toEqual([
      `Store true ${shared.url} answers`,
      `Bus true ${nats.url} lets us in`,
      "Bucket true traces takes files",
    ]);
    expect([bucket.objects.size, existsSync(join(folder, "none"))]).toEqual([0, false]);
  });

  test("names the one server of several that is away, or that does not answer", async () => {
    const hangs = createServer(() => undefined).listen(0, "127.0.0.1");
    await once(hangs, "listening");
    const silent = `http://127.0.0.1:${(hangs.address() as AddressInfo).port}`;
    const away = "http://127.0.0.1:1";
    const { code, found } = await ask({ TRIBUTARY_STORE_URL: `${shared.url},${away},${silent}` });
    hangs.closeAllConnections();
    hangs.close();
    expect(code).toBe(1);
    expect(found.slice(0, 3)).toEqual([
      `Store true ${shared.url} answers`,
      expect.stringMatching(/^Store false http:\/\/127\.0\.0\.1:1: .*ECONNREFUSED/),
      `Store false ${silent}: no answer in time`,
    ]);
  });

  test("tells a bus that refuses the password, and one that is away", async () => {
    const refused = await ask({ TRIBUTARY_BUS_PASSWORD: "wrong" });
    expect([refused.code, refused.found[1]]).toEqual([1, expect.stringMatching(/^Bus false .*authorization/i)]);
    const away = await ask({ TRIBUTARY_BUS_URL: "nats://127.0.0.1:1" });
    expect([away.code, away.found[1]]).toEqual([1, expect.stringMatching(/^Bus false nats:\/\/127\.0\.0\.1:1: /)]);
  });

  test("tells a bucket that is not there, and one that is away", async () => {
    const missing = await ask({ TRIBUTARY_BLOBS_BUCKET: "nosuch" });
    expect([missing.code, missing.found[2]]).toEqual([1, expect.stringMatching(/^Bucket false nosuch: /)]);
    const away = await ask({ TRIBUTARY_BLOBS_ENDPOINT: "http://127.0.0.1:1" });
    expect([away.code, away.found[2]]).toEqual([1, expect.stringMatching(/^Bucket false traces: .*ECONNREFUSED/)]);
  });
});
