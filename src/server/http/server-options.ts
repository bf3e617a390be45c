// What the listening parts get from the rest of the program. Each part picks what it uses.

import type { Handlers } from "#api/handler.ts";
import type { Address } from "#config/kinds.ts";
import type { Config } from "#config/settings.ts";
import type { BodyQueue } from "#server/body-queue.ts";
import type { Log } from "#server/log.ts";
import type { Metrics } from "#server/metrics.ts";
import type { UnfinishedBytes } from "#server/unfinished-bytes.ts";
import type { KeyWatch } from "./key-watch.ts";
import type { LoggedOut } from "./logged-out.ts";
import type { BlobIntake, Intake, KeyStore, Readiness, SocketIntake } from "./ports.ts";

export interface ServerOptions {
  readonly config: Config;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly keys: KeyStore;
  readonly keyWatch: KeyWatch;
  readonly loginSecret: Uint8Array;
  /** Logins that were ended early. */
  readonly loggedOut: LoggedOut;
  /** Identifies the owner of the data folder; '' for none. */
  readonly ownerSecret: string;
  readonly intake: Intake;
  readonly blobs: BlobIntake;
  readonly sockets: SocketIntake;
  readonly unfinished: UnfinishedBytes;
  readonly queue: BodyQueue;
  /** Where XTrack workers connect, once they can; null when they cannot. */
  xtrack(): Address | null;
  readonly readiness: Readiness;
  readonly handlers: Handlers;
  /** The folder the browser application was built into. */
  readonly webDir: string;
}
