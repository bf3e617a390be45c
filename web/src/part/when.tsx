// A moment, relative with the exact time on hover; it moves on by itself.

import { useEffect, useState } from "react";
import { formatAgo, formatDuration, formatTime, toMs } from "../text/format-time.ts";

export function useNow(periodMs: number, on = true): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!on) return;
    const timer = setInterval(() => setNow(Date.now()), periodMs);
    return () => clearInterval(timer);
  }, [periodMs, on]);
  return now;
}

export function When({ ns }: { readonly ns: string | null }) {
  const now = useNow(10_000);
  if (ns === null) return <span className="muted">–</span>;
  const ms = toMs(ns);
  return (
    <time dateTime={new Date(ms).toISOString()} title={formatTime(ms)}>
      <span className="no-print">{formatAgo(ms, now)}</span>
      {/* On paper nobody knows since when. */}
      <span className="print-only">{formatTime(ms)}</span>
    </time>
  );
}

interface TookProps {
  readonly start: string | null;
  readonly end: string | null;
  readonly running: boolean;
}

/** How long a run took, or has been running. */
export function Took({ start, end, running }: TookProps) {
  const now = useNow(1_000, running);
  if (start === null) return <span className="muted">–</span>;
  if (end === null && !running) return <span className="muted">–</span>;
  const ns = end === null ? Math.max(0, now - toMs(start)) * 1e6 : Number(BigInt(end) - BigInt(start));
  return <span title={`${ns.toLocaleString("en")} ns`}>{formatDuration(ns)}</span>;
}
