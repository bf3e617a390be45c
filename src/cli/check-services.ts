// For doctor: whether what the settings name on other machines answers there, the store, the bus and the bucket.

import { connect } from "node:net";
import type { Config } from "#config/settings.ts";
import { openBlobs, toStoreAddress } from "#server/app/backends.ts";
import { createStore } from "#store/client.ts";
import type { Finding } from "./finding.ts";

const answerMs = 5000;

/** Nothing for what is not set: the embedded engine and the folder of blobs are of this machine. */
export async function checkServices(config: Config): Promise<Finding[]> {
  return Promise.all([
    ...(config.storeUrl === "" ? [] : [checkStore(config)]),
    ...(config.busUrl === "" ? [] : config.busUrl.split(",").map((url) => checkBus(url.trim()))),
    ...(config.blobsKind === "s3" ? [checkBucket(config)] : []),
  ]);
}

async function checkStore(config: Config): Promise<Finding> {
  const what = "Store";
  const store = await createStore(toStoreAddress(config, () => undefined));
  try {
    await store.query({ sql: "SELECT 1 AS one" }, { timeoutMs: answerMs });
    return { what, ok: true, detail: `${config.storeUrl} answers`, hint: "" };
  } catch (error) {
    const hint = "Look at store.url, store.user and store.password, and whether ClickHouse runs there.";
    return { what, ok: false, detail: `${config.storeUrl}: ${firstLine(error)}`, hint };
  } finally {
    await store.close();
  }
}

/** A NATS server speaks first. */
function checkBus(url: string): Promise<Finding> {
  const { hostname, port } = new URL(url.includes("://") ? url : `nats://${url}`);
  return new Promise((resolve) => {
    const finish = (problem: string): void => {
      socket.destroy();
      const detail = problem === "" ? `${hostname} answers` : `${hostname}: ${problem}`;
      resolve({ what: "Bus", ok: problem === "", detail, hint: "Look at bus.url, and whether NATS runs there." });
    };
    const socket = connect({ host: hostname, port: Number(port || 4222) });
    socket.setTimeout(answerMs, () => finish("no answer in time"));
    socket.once("data", (bytes) => finish(bytes.toString("latin1").startsWith("INFO ") ? "" : "this is not NATS"));
    socket.once("error", (error: NodeJS.ErrnoException) => finish(error.code ?? error.message));
  });
}

async function checkBucket(config: Config): Promise<Finding> {
  const what = "Bucket";
  const blobs = await openBlobs(config);
  try {
    // Whether a file is there can be answered only by a bucket that knows us.
    await blobs.size("doctor/nothing");
    return { what, ok: true, detail: `${config.blobsBucket} answers`, hint: "" };
  } catch (error) {
    const hint = "Look at blobs.endpoint, blobs.bucket and its two keys.";
    return { what, ok: false, detail: `${config.blobsBucket}: ${firstLine(error)}`, hint };
  } finally {
    await blobs.close();
  }
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split("\n")[0] as string;
}
