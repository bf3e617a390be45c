// For doctor: whether the store, the bus and the bucket of the settings answer and let us in.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Config } from "#config/settings.ts";
import { openBlobs, toStoreAddress } from "#server/app/backends.ts";
import { whyNoBus } from "#server/peers/check-bus.ts";
import { createStore } from "#store/client.ts";
import { tellOldServer } from "#store/engine-version.ts";
import { int, readRow } from "#store/reader/native-rows.ts";
import { withOptions } from "#store/store.ts";

/** What doctor found: one line each, and what to do about problems. */
export interface Finding {
  readonly what: string;
  readonly ok: boolean;
  readonly detail: string;
  readonly hint: string;
}

const answerMs = 5000;

/** Services that are not set are not checked: the embedded engine and the folder of blobs are on this machine. */
export async function checkServices(config: Config): Promise<Finding[]> {
  return Promise.all([
    ...listOf(config.storeUrl).map((url) => checkStore(config, url)),
    ...listOf(config.busUrl).map((url) => checkBus(config, url)),
    ...(config.blobsKind === "s3" ? [checkBucket(config)] : []),
  ]);
}

function listOf(urls: string): string[] {
  return urls === "" ? [] : urls.split(",").map((url) => url.trim());
}

/** Each server of a cluster by itself, although one of them is enough for a collector. */
async function checkStore(config: Config, url: string): Promise<Finding> {
  const what = "Store";
  const store = await createStore(toStoreAddress({ ...config, storeUrl: url }, () => undefined));
  try {
    await readRow(
      withOptions(store, { signal: AbortSignal.timeout(answerMs) }),
      { one: int },
      { sql: "SELECT 1 AS one" },
    );
    const old = await tellOldServer(store);
    return { what, ok: true, detail: `${url} answers${old === null ? "" : `. ${old}`}`, hint: "" };
  } catch (error) {
    const hint = "Look at store.url, store.user and store.password, and whether ClickHouse runs there.";
    return { what, ok: false, detail: `${url}: ${toReason(error)}`, hint };
  } finally {
    await store.close();
  }
}

async function checkBus(config: Config, url: string): Promise<Finding> {
  const what = "Bus";
  const problem = await whyNoBus(url, config, answerMs);
  const hint = "Look at bus.url, bus.user and bus.password, and whether NATS runs there.";
  return { what, ok: problem === "", detail: problem === "" ? `${url} lets us in` : `${url}: ${problem}`, hint };
}

/** Writes a small file and deletes it: a missing bucket would otherwise look like one without files. */
async function checkBucket(config: Config): Promise<Finding> {
  const what = "Bucket";
  // Not the data folder: a check must not create one.
  const dataDir = await mkdtemp(join(tmpdir(), "tributary-doctor-"));
  const blobs = await openBlobs({ ...config, dataDir });
  const key = `doctor/${process.pid}-${Date.now()}`;
  try {
    await blobs.put(key, oneByte());
    await blobs.delete(key);
    return { what, ok: true, detail: `${config.blobsBucket} takes files`, hint: "" };
  } catch (error) {
    const hint = "Look at blobs.endpoint, blobs.bucket and its two keys.";
    return { what, ok: false, detail: `${config.blobsBucket}: ${toReason(error)}`, hint };
  } finally {
    await blobs.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function* oneByte(): AsyncGenerator<Uint8Array> {
  yield new Uint8Array(1);
}

function toReason(error: unknown): string {
  const { kind, message } = error as { readonly kind?: string; readonly message?: string };
  if (kind === "cancelled") return "no answer in time";
  return (message ?? String(error)).split("\n")[0] as string;
}
