// Starts the embedded engine in a data folder and says where its socket is.

import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { given } from "#base/given.ts";
import type { EmbeddedAddress } from "./address.ts";
import type { GuestLimits } from "./engine/engine-config.ts";
import { EngineSupervisor } from "./engine/supervisor.ts";

const memoryBytesDefault = 2_000_000_000;
const guestDefault: GuestLimits = { timeoutMs: 30_000, memoryBytesMax: 1 << 30, rowsMax: 1_000_000 };
const folderWaitMsDefault = 5000;
/** Below the system's limit for the path of a socket. */
const socketPathMax = 100;

export async function startEmbedded(address: EmbeddedAddress): Promise<EngineSupervisor> {
  const dataDir = resolve(address.dataDir);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const inData = join(dataDir, "engine.sock");
  // If the path in the data folder is too long: a folder that only this user can enter.
  const socketFolder = Buffer.byteLength(inData) <= socketPathMax ? null : mkdtempSync(join(tmpdir(), "tributary-"));
  const { isBrief = false, confinement, alsoReads, onEngineText, onCrash } = address;
  return EngineSupervisor.start({
    dataDir,
    isBrief,
    socketPath: socketFolder === null ? inData : join(socketFolder, "engine.sock"),
    socketFolder,
    memoryBytesMax: address.memoryBytesMax ?? memoryBytesDefault,
    guest: address.guest ?? guestDefault,
    folderWaitMs: address.folderWaitMs ?? folderWaitMsDefault,
    ...given({ confinement, alsoReads, onEngineText, onCrash }),
  });
}
