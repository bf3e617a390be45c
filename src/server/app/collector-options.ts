// The settings of a collector, as its parts take them.

import { defaultJsonLimits } from "#base/json/value.ts";
import { shareMemory } from "#config/memory-shares.ts";
import type { Config } from "#config/settings.ts";
import { defaultIntakeLimits } from "#intake/intake-state.ts";
import type { CollectorOptions } from "#server/collector/collector.ts";
import type { Log } from "#server/log.ts";
import type { StoreAddress } from "#store/address.ts";
import { openBlobs } from "./backends.ts";

/** Longer starts are told to whoever runs the server, with what they spent their time on. */
const slowStartMs = 2000;

export function toCollectorOptions(config: Config, log: Log, store: StoreAddress): CollectorOptions {
  const shares = shareMemory(config.memoryBudgetBytes);
  return {
    dataDir: config.dataDir,
    store,
    openBlobs: () => openBlobs(config),
    sessionGapNs: BigInt(config.sessionGapMs) * 1_000_000n,
    json: { ...defaultJsonLimits, depthMax: config.jsonDepthMax },
    lineBytesMax: config.lineBytesMax,
    stepNames: config.otlpSteps,
    journalBudgetBytes: config.journalBudgetBytes,
    journalSegmentBytes: config.journalSegmentBytes,
    pendingBytesMax: shares.pendingBytes,
    liveBytesMax: shares.liveBytes,
    intakeLimits: { ...defaultIntakeLimits, groupBytesMax: shares.groupsBytes },
    onTrouble: (message, cause) => log.warn({ err: cause }, message),
    onStarted: (steps, tookMs) => log[tookMs > slowStartMs ? "info" : "debug"](steps, "started"),
    onFatal: (cause) => {
      log.fatal({ err: cause }, "A bug: the process ends, and nothing accepted is lost.");
      process.exit(70);
    },
  };
}
