// Three collectors in processes of their own, on one store, one bus and one bucket. Each part can be killed, stopped or cut
// off, and is there again afterwards.

import { mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEmbedded } from "#store/embedded.ts";
import type { EngineSupervisor } from "#store/engine/supervisor.ts";
import { CollectorProcess } from "../../support/collector-process.ts";
import { openRelay, type Relay } from "../../support/relay.ts";
import { type S3Server, startS3 } from "../../support/s3-server.ts";
import { type NatsServer, startNats } from "../../support/several.ts";

/** A way to another part of the world that can be closed for a while. */
export class Road {
  readonly port: number;
  private readonly far: () => ReturnType<typeof connect>;
  private relay: Relay;

  private constructor(far: () => ReturnType<typeof connect>, relay: Relay) {
    this.far = far;
    this.relay = relay;
    this.port = relay.port;
  }

  static async open(far: () => ReturnType<typeof connect>): Promise<Road> {
    return new Road(far, await openRelay(far));
  }

  close(): void {
    this.relay.close();
  }

  async reopen(): Promise<void> {
    this.relay = await openRelay(this.far, this.port);
  }
}

export interface Member {
  readonly process: CollectorProcess;
  /** Its own way to the bus. */
  readonly toBus: Road;
}

export interface World {
  readonly members: readonly Member[];
  readonly nats: NatsServer;
  readonly engine: EngineSupervisor;
  readonly toStore: Road;
  readonly toBucket: Road;
  close(): Promise<void>;
}

export async function openWorld(): Promise<World> {
  const folder = await mkdtemp(join(tmpdir(), "tributary-world-"));
  const [nats, bucket] = await Promise.all([startNats(), startS3()]);
  const engine = await startEmbedded({ kind: "embedded", dataDir: join(folder, "store") });
  const toStore = await Road.open(() => connect(engine.socketPath));
  const toBucket = await Road.open(() => connect(portOf(bucket), "127.0.0.1"));
  const members = await Promise.all(
    ["a", "b", "c"].map(async (name) => {
      const toBus = await Road.open(() => connect(portOf(nats), "127.0.0.1"));
      const env = toSettings(toStore, toBus, toBucket);
      return { process: await CollectorProcess.make(join(folder, name), env), toBus };
    }),
  );
  const world: World = { members, nats, engine, toStore, toBucket, close: () => closeWorld(world, bucket, folder) };
  await Promise.all(members.map(({ process }) => process.start()));
  return world;
}

function portOf({ url }: { readonly url: string }): number {
  return Number(new URL(url).port);
}

function toSettings(toStore: Road, toBus: Road, toBucket: Road): Record<string, string> {
  return {
    TRIBUTARY_STORE_URL: `http://127.0.0.1:${toStore.port}`,
    TRIBUTARY_STORE_GUEST_USER: "guest",
    TRIBUTARY_BUS_URL: `nats://127.0.0.1:${toBus.port}`,
    TRIBUTARY_BLOBS_KIND: "s3",
    TRIBUTARY_BLOBS_ENDPOINT: `http://127.0.0.1:${toBucket.port}`,
    TRIBUTARY_BLOBS_BUCKET: "traces",
    TRIBUTARY_BLOBS_ACCESS_KEY: "key",
    TRIBUTARY_BLOBS_SECRET_KEY: "secret",
  };
}

async function closeWorld(world: World, bucket: S3Server, folder: string): Promise<void> {
  await Promise.all(world.members.map(({ process }) => process.kill()));
  for (const road of [world.toStore, world.toBucket, ...world.members.map(({ toBus }) => toBus)]) road.close();
  await world.engine.close();
  await world.nats.kill();
  await bucket.close();
  await rm(folder, { recursive: true, force: true });
}
