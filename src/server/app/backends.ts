// The store and the blob store that the settings name.

import { join } from "node:path";
import type { Config } from "#config/settings.ts";
import type { Log } from "#server/log.ts";
import type { StoreAddress } from "#store/address.ts";
import type { BlobStore } from "#store/blobs/blob-store.ts";
import { createFsBlobs } from "#store/blobs/fs-blobs.ts";
import { createS3Blobs } from "#store/blobs/s3-blobs.ts";
import { startEmbedded } from "#store/embedded.ts";

/** In rows: some blocks of the engine. */
const sqlRowsSpare = 262_144;

export function toStoreAddress(config: Config, onCrash: (reason: string) => void): StoreAddress {
  if (config.storeUrl === "") {
    return {
      kind: "embedded",
      dataDir: config.dataDir,
      guest: {
        timeoutMs: config.sqlTimeoutMs,
        memoryBytesMax: config.sqlMemoryBytesMax,
        // Answers are cut at their limit; the engine aborts only what goes far beyond it.
        rowsMax: config.sqlRowsMax + sqlRowsSpare,
      },
      onCrash,
    };
  }
  const { storeGuestUser: guestUser, storeGuestPassword: guestPassword, storeCluster: cluster } = config;
  return {
    kind: "server",
    url: config.storeUrl,
    user: config.storeUser,
    password: config.storePassword,
    database: config.storeDatabase,
    ...(guestUser === "" ? {} : { guestUser, guestPassword }),
    ...(cluster === "" ? {} : { cluster, quorum: config.storeQuorum }),
  };
}

/** Starts the embedded engine in the background; a remote store needs no start. `isBrief`: for one command. */
export function startStore(config: Config, log: Log, isBrief = false): StoreAddress {
  const address = toStoreAddress(config, (reason) => log.error({ reason }, "the engine ended and is started again"));
  if (address.kind !== "embedded") return address;
  const starting = startEmbedded({ ...address, isBrief });
  starting.then(
    ({ pid, confinement }) => log.debug({ pid, confinement }, "the engine runs"),
    // Reported to whoever opens the store.
    () => undefined,
  );
  return { ...address, starting };
}

export function openBlobs(config: Config): Promise<BlobStore> {
  if (config.blobsKind === "fs") return createFsBlobs(join(config.dataDir, "blobs"));
  return createS3Blobs({
    bucket: config.blobsBucket,
    prefix: config.blobsPrefix,
    endpoint: config.blobsEndpoint,
    region: config.blobsRegion,
    accessKey: config.blobsAccessKey,
    secretKey: config.blobsSecretKey,
    pathStyle: config.blobsPathStyle,
    tmp: join(config.dataDir, "tmp"),
  });
}
