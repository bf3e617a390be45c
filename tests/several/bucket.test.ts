// What the compose file and the chart set: a store elsewhere and a bucket, with a data folder that nobody has written to.

import { rm } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runInTest } from "#cli/run-cli.testing.ts";
import { createTestApp, type TestApp } from "../support/app.ts";
import { hex } from "../support/cirron-batch.ts";
import { type S3Server, startS3 } from "../support/s3-server.ts";
import { type SharedStore, startSharedStore } from "../support/several.ts";

let shared: SharedStore;
let bucket: S3Server;
let app: TestApp;

beforeAll(async () => {
  [shared, bucket] = await Promise.all([startSharedStore(), startS3("traces")]);
  app = await createTestApp({
    ...{ storeUrl: shared.url, storeGuestUser: "guest", blobsKind: "s3", blobsEndpoint: bucket.url },
    ...{ blobsBucket: "traces", blobsAccessKey: "key", blobsSecretKey: "secret" },
  });
});
afterAll(async () => {
  await app?.remove();
  await bucket?.close();
  await shared?.close();
});

test("a blob and a file of a run go to the bucket and come back", async () => {
  const blob = await put(`/v1/traces/blobs/snapshots/${hex("span")}/weights.safetensors`, "weights");
  expect(blob.status).toBe(201);
  expect(await (await fetch(blob.headers.get("location") as string)).text()).toBe("weights");
  const path = "/v1/runs/filed/artifacts/notes.txt";
  expect((await put(path, "notes")).status).toBe(201);
  await app.app.collector.drained();
  expect(await (await fetch(`${app.app.url}/api/v1/runs/filed/artifacts/notes.txt`)).text()).toBe("notes");
  expect([...bucket.objects.values()].map(String).sort()).toEqual(["notes", "weights"]);
});

test("a start makes the folder anew that files pass through", async () => {
  await rm(`${app.dataDir}/tmp`, { recursive: true });
  await app.reopen();
  expect((await put("/v1/runs/filed/artifacts/more.txt", "more")).status).toBe(201);
});

test("an address of a store that is no http URL is a wrong setting, told in a sentence", async () => {
  const env = { TRIBUTARY_STORE_URL: "clickhouse://clickhouse:9000/tributary" };
  const { code, err } = await runInTest(["up", "--data", app.dataDir], { env });
  expect(code).toBe(2);
  expect(err).toContain("TRIBUTARY_STORE_URL must be a URL that begins with http:// or https://");
  expect(err).toContain('not "clickhouse://clickhouse:9000/tributary"');
  expect(err).not.toMatch(/^\s+at /m);
});

function put(path: string, body: string): Promise<Response> {
  return fetch(app.app.url + path, { method: "PUT", body });
}
