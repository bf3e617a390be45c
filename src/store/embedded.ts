// Starts the embedded engine in a data folder and says where its socket is.

import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { EmbeddedAddress } from "./address.ts";
import type { Confinement } from "./engine/confinement.ts";
import type { GuestLimits } from "./engine/engine-config.ts";
import { EngineSupervisor } from "./engine/supervisor.ts";
import type { StoreStats } from "./store.ts";

export interface EmbeddedEngine {
  readonly socketPath: string;
  readonly restarts: number;
  readonly load: StoreStats["load"];
  readonly pid: number | undefined;
  readonly confinement: Confinement;
  whenReady(): Promise<void>;
  close(): Promise<void>;
}

const memoryBytesDefault = 2_000_000_000;
const guestDefault: GuestLimits = { timeoutMs: 30_000, memoryBytesMax: 1 << 30, rowsMax: 1_000_000 };
const folderWaitMsDefault = 5000;
/** The system's limit for the path of a socket, less a reserve. */
const socketPathMax = 100;

export async function startEmbedded(address: EmbeddedAddress): Promise<EmbeddedEngine> {
  const dataDir = resolve(address.dataDir);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const socketPath = chooseSocketPath(dataDir);
  const { confinement, alsoReads, onEngineText, onCrash } = address;
  const supervisor = await EngineSupervisor.start({
    dataDir,
    socketPath,
    memoryBytesMax: address.memoryBytesMax ?? memoryBytesDefault,
    guest: address.guest ?? guestDefault,
    folderWaitMs: address.folderWaitMs ?? folderWaitMsDefault,
    ...(confinement === undefined ? {} : { confinement }),
    ...(alsoReads === undefined ? {} : { alsoReads }),
    ...(onEngineText === undefined ? {} : { onEngineText: (text) => onEngineText(text) }),
    ...(onCrash === undefined ? {} : { onCrash: (reason) => onCrash(reason) }),
  });
  return {
    socketPath,
    get restarts() {
      return supervisor.restarts;
    },
    get load() {
      return supervisor.load;
    },
    get pid() {
      return supervisor.pid;
    },
    get confinement() {
      return supervisor.confinement;
    },
    whenReady: () => supervisor.whenReady(),
    close: async () => {
      await supervisor.close();
      if (!socketPath.startsWith(dataDir)) rmSync(dirname(socketPath), { recursive: true, force: true });
    },
  };
}

/** In the data folder, or in a folder of its own where only this user gets in when that path is too long. */
function chooseSocketPath(dataDir: string): string {
  const inData = join(dataDir, "engine.sock");
  if (Buffer.byteLength(inData) <= socketPathMax) return inData;
  return join(mkdtempSync(join(tmpdir(), "tributary-")), "engine.sock");
}
