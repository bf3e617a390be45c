// Connects what a collector reports to the log.

import type { CollectorOptions } from "#server/collector/collector.ts";
import type { Log } from "#server/log.ts";

/** A longer start is logged at `info`, with the time of each step. */
const slowStartMs = 2000;

export function hooksOf(log: Log): Pick<CollectorOptions, "onTrouble" | "onStarted" | "onFatal"> {
  return {
    onTrouble: (message, cause) => log.warn({ err: cause }, message),
    onStarted: (steps, tookMs) => log[tookMs > slowStartMs ? "info" : "debug"](steps, "started"),
    onFatal: (cause) => {
      log.fatal({ err: cause }, "A bug: the process ends, and nothing accepted is lost.");
      process.exit(70);
    },
  };
}
