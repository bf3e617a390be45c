// What becomes of the words of a collector.

import type { CollectorOptions } from "#server/collector/collector.ts";
import type { Log } from "#server/log.ts";

/** Longer starts are told to whoever runs the server, with what they spent their time on. */
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
