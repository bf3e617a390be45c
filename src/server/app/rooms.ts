// The parts of a server that are loaded from the store: commands, keys, files and rules.

import { randomUUID } from "node:crypto";
import type { Config } from "#config/settings.ts";
import { createBlobRoom } from "#server/collector/blob-intake.ts";
import type { Collector } from "#server/collector/collector.ts";
import type { CommandRoom } from "#server/collector/commands.ts";
import { createKeyStore } from "#server/collector/key-store.ts";
import { toOwnedId } from "#server/peers/claims.ts";
import type { Peering } from "#server/peers/peering.ts";
import { readRules } from "#server/watch/open-watch.ts";

interface RoomParts {
  readonly collector: Collector;
  readonly config: Config;
  readonly peering: Peering | null;
  readonly commands: CommandRoom;
}

export async function openRooms({ collector, config, peering, commands }: RoomParts) {
  // With several collectors, a command's id says which one owns it.
  const createId = (name = randomUUID()) => toOwnedId(name, collector.id);
  const several = peering === null ? undefined : { others: peering.others, createId };
  const [control, keys, blobs, rules] = await Promise.all([
    commands.open(collector, several),
    createKeyStore(collector, config),
    createBlobRoom(collector, config.blobBytesMax),
    readRules(collector, config),
  ]);
  return { control, keys, blobs, rules };
}
