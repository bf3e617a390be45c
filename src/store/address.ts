// Where the store is: the embedded engine in a data folder, or a ClickHouse server.

import type { Confinement } from "./engine/confinement.ts";
import type { GuestLimits } from "./engine/engine-config.ts";
import type { EngineSupervisor } from "./engine/supervisor.ts";

export interface EmbeddedAddress {
  readonly kind: "embedded";
  readonly dataDir: string;
  /** The memory limit of the engine; a query may take half of it. Default 2 GB. */
  readonly memoryBytesMax?: number;
  /** Limits of SQL that people write. Default 30 s, 1 GiB, a million rows. */
  readonly guest?: GuestLimits;
  /** Default: the strongest that the system offers. */
  readonly confinement?: Confinement;
  /** A folder outside the data folder whose files statements may name; a confined engine reads no other. */
  readonly alsoReads?: string;
  /** How long to wait for a folder that another server is about to release. */
  readonly folderWaitMs?: number;
  /** Opened for one command; a server that starts meanwhile waits until the command is done. */
  readonly isBrief?: boolean;
  /** The engine of this address, if it is being started already. */
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
 * `majority`: a block counts as stored when most replicas of a shard have it; while too few are alive, nothing is
 * stored. `available`: the same, but while too few are alive, those that are suffice.
 */
export type Quorum = "majority" | "available";

export type StoreAddress = EmbeddedAddress | ServerAddress;
