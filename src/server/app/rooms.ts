// The parts of a server that are loaded from the store: commands, keys, files and rules.

import { randomUUID } from "node:crypto";
import type { Config } from "#config/settings.ts";
import { createBlobRoom } from "#server/collector/blob-intake.ts";
import type { Collector } from "#server/collector/collector.ts";
import type { CommandRoom, CommandRoomOptions } from "#server/collector/commands.ts";
import { createKeyStore } from "#server/collector/key-store.ts";
import type { Log } from "#server/log.ts";
import { toOwnedId } from "#server/peers/claims.ts";
import type { Peering } from "#server/peers/peering.ts";
import { readRules } from "#server/watch/open-watch.ts";

interface RoomParts {
  readonly collector: Collector;
  readonly config: Config;
  readonly peering: Peering | null;
  readonly log: Log;
  readonly commands: CommandRoom;
}

/** A start waits for these answers of the store, so it asks for them in parallel. */
export async function openRooms({ collector, config, peering, log, commands }: RoomParts) {
  const onUnmoved = (cause: unknown) =>
    log.warn({ err: cause }, "A blob could not be moved to its place; the next start tries again.");
  const [control, keys, blobs, rules] = await Promise.all([
    commands.open(collector, toCommandOptions(collector, peering, log)),
    createKeyStore(collector, config),
    createBlobRoom(collector, config.blobBytesMax, onUnmoved),
    readRules(collector, config),
  ]);
  return { control, keys, blobs, rules };
}

/** With several collectors, a command's id says which one owns it. */
function toCommandOptions(collector: Collector, peering: Peering | null, log: Log): CommandRoomOptions {
  const onTrouble = (cause: unknown) => log.warn({ err: cause }, "A command's step could not be recorded.");
  if (peering === null) return { onTrouble };
  return { onTrouble, others: peering.others, createId: (name = randomUUID()) => toOwnedId(name, collector.id) };
}
