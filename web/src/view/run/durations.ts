// How long a worker took, three ways that may differ: by its own clock, between arrivals here, and as it said itself.

import type { Run } from "#api/contract/run.ts";
import { formatDuration } from "../../text/format-time.ts";

/** Records of one file arrive at once: that says nothing and is left out. */
export function durationParts(duration: Run["durations"][number]): string {
  const parts = [
    duration.clock_ns === null ? "" : `${formatDuration(Number(duration.clock_ns))} by its clock`,
    duration.arrival_ns === null || duration.arrival_ns === "0"
      ? ""
      : `${formatDuration(Number(duration.arrival_ns))} between arrivals`,
    duration.said_ms === null ? "" : `${formatDuration(Number(duration.said_ms) * 1e6)} as it said`,
  ];
  return parts.filter((part) => part !== "").join(", ");
}
