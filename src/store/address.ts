// Where the store is: the embedded engine in a data folder, or a ClickHouse server.

import type { Confinement } from "./engine/confinement.ts";
import type { GuestLimits } from "./engine/engine-config.ts";
import type { EngineSupervisor } from "./engine/supervisor.ts";

export interface EmbeddedAddress {
  readonly kind: "embedded";
  readonly dataDir: string;
  /** What the engine may take in all; a query may take half of it. Default 2 GB. */
  readonly memoryBytesMax?: number;
  /** Limits of SQL that people write. Default 30 s, 1 GiB, a million rows. */
  readonly guest?: GuestLimits;
  /** Default: the strongest that the system offers. */
  readonly confinement?: Confinement;
  /** A folder outside of the data folder whose files statements may name; the confined engine reads no other. */
  readonly alsoReads?: string;
  /** How long to wait for a folder that an ending server still has. Default 5000. */
  readonly folderWaitMs?: number;
  /** Opened for one command; a server that starts meanwhile waits until that is done. */
  readonly isBrief?: boolean;
  /** The engine of this address, where it is being started already. */
  readonly starting?: Promise<EngineSupervisor>;
  onEngineText?(text: string): void;
  onCrash?(reason: string): void;
}

export interface ServerAddress {
  readonly kind: "server";
  /** Several servers of one cluster are separated by commas. */
  readonly url: string;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  /** Name of the cluster; tables are then replicated and sharded. */
  readonly cluster?: string;
  /** What an insert waits for in a cluster; see `store.quorum`. */
  readonly quorum?: Quorum;
  /** The user for SQL that people write; without one such SQL is refused. */
  readonly guestUser?: string;
  readonly guestPassword?: string;
}

/**
 * `majority`: most replicas of a shard have a block before it counts as stored, and while too few live nothing is.
 * `available`: the same, and while too few live, those that do are enough.
 */
export type Quorum = "majority" | "available";

export type StoreAddress = EmbeddedAddress | ServerAddress;
