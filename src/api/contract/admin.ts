// Who may do what, and how the server is doing.

import type { Static } from "typebox";
import { AsOf, Count, Int64, JsonText, NextCursor, nullable, PageQuery, TimeNs, word } from "./scalar.ts";
import { strict, Type } from "./schema.ts";

export const Scope = word(["ingest", "read", "control", "admin"]);
export type Scope = Static<typeof Scope>;

export const KeyInfo = Type.Object({
  id: Type.String(),
  name: Type.String(),
  workspace: Type.String(),
  scopes: Type.Array(Scope),
  created_ns: TimeNs,
  last_used_ns: nullable(TimeNs),
});
export const KeysAnswer = Type.Object({ keys: Type.Array(KeyInfo) });
export const KeyBody = strict({
  name: Type.String({ minLength: 1, maxLength: 128 }),
  scopes: Type.Array(Scope, { minItems: 1, uniqueItems: true }),
  workspace: Type.Optional(Type.String({ pattern: "^[^/]{1,128}$", description: "Without a slash." })),
});
/** The key itself is shown this once. */
export const KeyCreated = Type.Object({ ...KeyInfo.properties, key: Type.String() });
export const KeyPath = Type.Object({ key: Type.String({ minLength: 1 }) });

export const SessionBody = strict({ key: Type.String({ maxLength: 512 }) });
export const SessionAnswer = Type.Object({
  workspace: Type.String(),
  scopes: Type.Array(Scope),
  /** False when the server asks nothing of a caller on this address. */
  key_needed: Type.Boolean(),
  version: Type.String(),
  /** What to put into copy-ready lines: where clients reach this server. */
  http: Type.String(),
  xtrack: nullable(Type.Object({ host: Type.String(), port: Count })),
  /** How the command line of the server's installation is typed on its machine. */
  command: Type.String(),
});
export type SessionAnswer = Static<typeof SessionAnswer>;

export const Retention = strict({ days: nullable(Type.Integer({ minimum: 1, maximum: 36500 })) });

/** What holds now. `days` out of the configuration may have a fraction; null keeps runs forever. */
export const RetentionAnswer = Type.Object({
  days: nullable(Type.Number()),
  set_by: word(["api", "configuration", "nobody"]),
});

export const AuditQuery = Type.Object({ ...PageQuery });
export const AuditAnswer = Type.Object({
  entries: Type.Array(
    Type.Object({
      at_ns: TimeNs,
      by: Type.String(),
      action: Type.String(),
      target: Type.String(),
      detail: JsonText,
    }),
  ),
  next: NextCursor,
});

/** Accepted records that could not be applied, of the whole server. */
export const AsideAnswer = Type.Object({
  records: Type.Array(
    Type.Object({
      position: Count,
      reason: Type.String(),
      tries: Count,
      bytes: Count,
      at: Type.String({ description: "When it was set aside, RFC 3339." }),
    }),
  ),
});
export const AsideBody = strict({
  positions: Type.Optional(Type.Array(Count, { maxItems: 10_000, description: "Default: all." })),
});
export const AsideRetried = Type.Object({ tried: Count, left: Count });

const protocolHealth = Type.Object({
  protocol: Type.String(),
  accepted: Count,
  refused: Count,
  duplicates: Count,
  faults: Count,
  missing: Count,
  events_per_s: Type.Number(),
});

export const HealthAnswer = Type.Object({
  ok: Type.Boolean(),
  /** Sentences about what is not well, '' free; empty when all is. */
  problems: Type.Array(Type.String()),
  version: Type.String(),
  started_ns: TimeNs,
  protocols: Type.Array(protocolHealth),
  /** The last ten minutes, one value every 5 s, oldest first. */
  history: Type.Object({
    events_per_s: Type.Array(Type.Number()),
    lag_ms: Type.Array(Type.Number()),
    waiting_bytes: Type.Array(Type.Number()),
  }),
  journal: Type.Object({
    segments: Count,
    bytes: Int64,
    budget_bytes: Int64,
    waiting_events: Count,
    lag_ms: Type.Number(),
    last_sync_ms: Type.Number(),
    skipped_records: Count,
  }),
  store: Type.Object({
    engine: Type.String(),
    up: Type.Boolean(),
    restarts: Count,
    rows: Int64,
    bytes: Int64,
    insert_p50_ms: Type.Number(),
    insert_p95_ms: Type.Number(),
    query_p50_ms: Type.Number(),
    query_p95_ms: Type.Number(),
  }),
  connections: Type.Array(
    Type.Object({
      id: Type.String(),
      transport: Type.String(),
      peer: Type.String(),
      run: nullable(Type.String()),
      worker: Type.String(),
      since_ns: TimeNs,
      events: Count,
      bytes: Count,
      accepts_commands: Type.Boolean(),
    }),
  ),
  memory_bytes: Count,
  subscribers: Count,
  as_of: AsOf,
});
export type HealthAnswer = Static<typeof HealthAnswer>;

export const Liveness = Type.Object({ ok: Type.Boolean() });
export const ReadyQuery = Type.Object({ drained: Type.Optional(word(["1"])) });
export const Readiness = Type.Object({
  ready: Type.Boolean(),
  problems: Type.Array(Type.String()),
  degraded: Type.Array(Type.String(), {
    description: "What does not work, although the server takes and answers requests.",
  }),
});
