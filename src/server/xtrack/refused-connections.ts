// XTrack has no way to refuse a worker, so refused connections are reported to the operators: by a counter, a log line,
// and for a while a sentence on the Health page.

import type { Log } from "#server/log.ts";
import type { Metrics } from "#server/metrics.ts";
import type { RefusedReason } from "./connection.ts";

const words: { readonly [reason in RefusedReason]: string } = {
  xtrack_key_missing: "sent no key; what they send is dropped. Workers give theirs as the first line",
  xtrack_key_wrong: "sent a key that is not known or lacks the scope `ingest`; what they send is dropped",
  xtrack_memory: "were closed, because all frames that were arriving took more than `limits.unfinished`",
};

const logEveryMs = 60_000;
const toldForMs = 600_000;

export class RefusedConnections {
  private readonly log: Log;
  private readonly metrics: Metrics;
  private readonly seen = new Map<
    RefusedReason,
    { count: number; address: string; lastMs: number; loggedMs: number }
  >();

  constructor(log: Log, metrics: Metrics) {
    this.log = log;
    this.metrics = metrics;
  }

  note(reason: RefusedReason, address: string): void {
    this.metrics.refused.inc({ reason });
    const before = this.seen.get(reason);
    const lastMs = Date.now();
    const isQuiet = before !== undefined && lastMs - before.loggedMs < logEveryMs;
    const count = (before?.count ?? 0) + 1;
    this.seen.set(reason, { count, address, lastMs, loggedMs: isQuiet ? before.loggedMs : lastMs });
    if (!isQuiet) this.log.warn({ reason, address, connections: count }, `XTrack connections ${words[reason]}.`);
  }

  /** Sentences about the last minutes. */
  sentences(): string[] {
    return [...this.seen].flatMap(([reason, { count, address, lastMs }]) => {
      if (Date.now() - lastMs > toldForMs) return [];
      return [`${count} XTrack connections ${words[reason]} (the last came from ${address}).`];
    });
  }
}
