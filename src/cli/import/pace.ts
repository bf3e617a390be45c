// Replays at the speed things happened, or a multiple of it: what was a second apart is sent a second apart.

import { setTimeout as sleep } from "node:timers/promises";
import { Exit, exitCodes } from "#cli/exit.ts";
import type { Pace } from "#protocol/reading/reader.ts";

const instant: Pace = { waitFor: async () => undefined, windowNs: 0n };

/** `instant`, `realtime`, or a factor such as `10x`. */
export function createPace(speed: string, stop: AbortSignal): Pace {
  if (speed === "instant") return instant;
  const factor = speed === "realtime" ? 1 : Number(/^(\d+(?:\.\d+)?)x$/.exec(speed)?.[1]);
  if (!(factor > 0)) {
    throw new Exit(exitCodes.usage, `--speed must be instant, realtime or a factor such as 10x, not ${speed}.`);
  }
  let first: { atNs: bigint; startedMs: number } | undefined;
  return {
    windowNs: BigInt(Math.round(50e6 * factor)),
    async waitFor(atNs) {
      first ??= { atNs, startedMs: performance.now() };
      const dueMs = first.startedMs + Number(atNs - first.atNs) / 1e6 / factor;
      const waitMs = dueMs - performance.now();
      if (waitMs > 1 && !stop.aborted) await sleep(waitMs, undefined, { signal: stop }).catch(() => undefined);
    },
  };
}
