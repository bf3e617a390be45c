// How fresh the page is: the rate when all is well, a sentence when it is not.

import { useLiveState } from "../data/use-live.ts";
import { useNow } from "../part/when.tsx";
import { countOf, formatSi } from "../text/format-number.ts";
import { formatClock } from "../text/format-time.ts";

export function LiveDot() {
  const live = useLiveState();
  const now = useNow(1_000, live.state !== "open");
  const late = live.state === "waiting" || (live.state === "connecting" && now - live.sinceMs > 2_000);
  const behind = live.waitingEvents > 100_000;
  const text = late
    ? `server away since ${formatClock(live.sinceMs).slice(0, 8)}; what you see is from then`
    : behind
      ? `behind by ${countOf(live.waitingEvents, "event")}`
      : live.state === "open"
        ? `live ${formatSi(live.eventsPerSecond)} ev/s`
        : "connecting";
  return (
    <output className={`live no-print ${late || behind ? "late" : ""}`} aria-label="Live stream">
      <i />
      <span className={late || behind ? "" : "live-rate"}>{text}</span>
    </output>
  );
}
