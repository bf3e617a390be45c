// Server-sent events. Every event has an id `<collector>-<journal position>`; `Last-Event-ID` and `after` go on
// from there. Without `run` a subscriber gets `run`, `changed`, `gone` and `stats`; with `run` also the rows.

import type { Static } from "typebox";
import { Command } from "./command.ts";
import { LogRow } from "./record.ts";
import { Alert } from "./rule.ts";
import { RunStatus } from "./run.ts";
import { AsOf, Count, Float, Int64, nullable, repeated, TimeNs, word } from "./scalar.ts";
import { Type } from "./schema.ts";

export const LiveQuery = Type.Object({
  run: Type.Optional(repeated(Type.String({ minLength: 1 }), 100)),
  // It stands in the stream again, where a line break would begin an event of its own.
  after: Type.Optional(
    Type.String({
      pattern: "^\\w{1,64}-\\d{1,15}(?:,\\w{1,64}-\\d{1,15})*$",
      description: "`as_of` of an answer, or the id of the last event: the stream goes on behind it.",
    }),
  ),
  // Read from the store.
  missed: Type.Optional(word(["1"])),
});

/** The first event of a connection: what has been seen so far. */
export const LiveHello = Type.Object({ as_of: AsOf });

/** A run is new or its head changed. */
export const LiveRun = Type.Object({
  id: Type.String(),
  name: Type.String(),
  status: RunStatus,
  first: Type.Boolean({ description: "Nothing of this run was known before." }),
});

/** How many rows of each kind arrived since the last `changed` of this run: what to ask for again. */
export const LiveChanged = Type.Object({ run: Type.String(), rows: Type.Record(Type.String(), Count) });

/**
 * Metric points in columns. A mark without a step, an epoch or a worker has those of the spans around it as far as they
 * came with it; a span that comes later gives them to the stored point alone.
 */
export const LiveMetrics = Type.Object({
  run: Type.String(),
  key: Type.Array(Type.String()),
  phase: Type.Array(Type.String()),
  worker: Type.Array(Type.String()),
  step: Type.Array(nullable(Int64)),
  epoch: Type.Array(nullable(Int64)),
  ts_ns: Type.Array(TimeNs),
  value: Type.Array(nullable(Float)),
});

export const LiveLogs = Type.Object({ run: Type.String(), logs: Type.Array(LogRow) });
export const LiveCommand = Type.Object({ run: Type.String(), command: Command });

/** The run was deleted. */
export const LiveGone = Type.Object({ run: Type.String() });

/**
 * Events behind `from`, up to `to`, were not sent to this subscriber: ask again. With `missed=1`, the rows of its runs are sent
 * instead, as `metrics` and `logs`, as far as this collector has them.
 */
export const LiveSkipped = Type.Object({ from: AsOf, to: AsOf, reason: Type.String() });

/** How the server is doing, once a second. */
export const LiveStats = Type.Object({
  as_of: Type.String({ description: "This stream has told everything up to here." }),
  events_per_s: Type.Number(),
  /** Accepted and not yet queryable. */
  waiting_events: Count,
  waiting_bytes: Count,
  connections: Count,
});
export type LiveStats = Static<typeof LiveStats>;

export const liveEvents = {
  hello: LiveHello,
  run: LiveRun,
  changed: LiveChanged,
  metrics: LiveMetrics,
  logs: LiveLogs,
  command: LiveCommand,
  /** A rule saw something, or what it saw is gone. */
  alert: Alert,
  gone: LiveGone,
  skipped: LiveSkipped,
  stats: LiveStats,
} as const;

export type LiveEventName = keyof typeof liveEvents;
export type LiveEvent<N extends LiveEventName = LiveEventName> = {
  [K in N]: { readonly name: K; readonly id: string; readonly data: Static<(typeof liveEvents)[K]> };
}[N];
