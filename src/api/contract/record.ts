// What a run received besides series and spans: logs, params, files, events, faults, gaps.

import type { Static } from "typebox";
import { recordProtocolNames } from "#protocol/facts.ts";
import {
  AsOf,
  Count,
  Float,
  Int64,
  JsonText,
  NextCursor,
  nullable,
  PageQuery,
  repeated,
  TimeNs,
  WindowQuery,
  word,
} from "./scalar.ts";
import { Type } from "./schema.ts";

export const LogsQuery = Type.Object({
  ...PageQuery,
  ...WindowQuery,
  level: Type.Optional(repeated(Type.String(), 16)),
  q: Type.Optional(Type.String({ maxLength: 1024, description: "Case-insensitive text in the message." })),
  worker: Type.Optional(repeated(Type.String(), 64)),
  stream: Type.Optional(word(["stdout", "stderr"])),
  order: Type.Optional(word(["asc", "desc"])),
  chars: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 67_108_864,
      description: "Messages longer than this many characters are cut, with `cut_from`; default 64 KiB.",
    }),
  ),
});
export type LogsQuery = Static<typeof LogsQuery>;

export const LogRow = Type.Object({
  id: Type.String({ description: "Stable: journal position and place." }),
  ts_ns: TimeNs,
  received_ns: TimeNs,
  worker: Type.String(),
  level: Type.String(),
  logger: Type.String(),
  msg: Type.String(),
  cut_from: Type.Optional(
    Type.Integer({ minimum: 0, description: "Characters of the whole message, when `msg` is only its beginning." }),
  ),
  step: nullable(Int64),
  stream: Type.String(),
  fields: Type.String({ description: "Strict JSON text, '' when absent." }),
});
export type LogRow = Static<typeof LogRow>;

export const LogsAnswer = Type.Object({
  logs: Type.Array(LogRow),
  next: NextCursor,
  /** Rows that match without the level filter, by level. */
  levels: Type.Record(Type.String(), Count),
  as_of: AsOf,
});
export type LogsAnswer = Static<typeof LogsAnswer>;

/** A value of more than 64 KiB is a JSON string that holds its beginning; `cut_from` is the size of the whole. */
const CutFrom = Type.Optional(
  Type.Integer({
    minimum: 0,
    description: "Bytes of the whole record, which `GET …/events/<id>` returns; absent if this is all of it.",
  }),
);

export const ParamRow = Type.Object({
  id: Type.String({ description: "Journal position and place of the record it came in." }),
  name: Type.String(),
  value: JsonText,
  cut_from: CutFrom,
  worker: Type.String(),
  /** `param`, `session` (Cirron attributes), `run_space` (launch context), `node`. */
  origin: Type.String(),
  ts_ns: TimeNs,
  /** Earlier values of the same name, oldest first. */
  earlier: Type.Array(
    Type.Object({ id: Type.String(), value: JsonText, cut_from: CutFrom, ts_ns: TimeNs, worker: Type.String() }),
  ),
});
export type ParamRow = Static<typeof ParamRow>;
export const ParamsAnswer = Type.Object({ params: Type.Array(ParamRow), as_of: AsOf });

export const ArtifactRow = Type.Object({
  name: Type.String(),
  type: Type.String(),
  /** The client's path: text, never opened. */
  path: Type.String(),
  strategy: Type.String(),
  size_bytes: nullable(Int64),
  checksum: Type.String(),
  worker: Type.String(),
  ts_ns: TimeNs,
  step: nullable(Int64),
  meta: Type.String({ description: "Strict JSON text, '' when absent." }),
  /** The bytes are stored here and can be downloaded. */
  stored: Type.Boolean(),
});
export type ArtifactRow = Static<typeof ArtifactRow>;
export const ArtifactsAnswer = Type.Object({ artifacts: Type.Array(ArtifactRow), next: NextCursor, as_of: AsOf });
export const ArtifactPath = Type.Object({ id: Type.String({ minLength: 1 }), name: Type.String({ minLength: 1 }) });
export const ArtifactStored = Type.Object({ name: Type.String(), size_bytes: Int64, sha256: Type.String() });

export const CheckpointRow = Type.Object({
  step: nullable(Int64),
  path: Type.String(),
  metrics: Type.Record(Type.String(), Float),
  /** The client said so. */
  is_best: Type.Boolean(),
  best_key: Type.String(),
  worker: Type.String(),
  ts_ns: TimeNs,
  meta: Type.String(),
});
export type CheckpointRow = Static<typeof CheckpointRow>;
export const CheckpointsAnswer = Type.Object({ checkpoints: Type.Array(CheckpointRow), next: NextCursor, as_of: AsOf });
export type CheckpointsAnswer = Static<typeof CheckpointsAnswer>;

export const EventsQuery = Type.Object({
  ...PageQuery,
  ...WindowQuery,
  type: Type.Optional(repeated(Type.String(), 32)),
  protocol: Type.Optional(word(recordProtocolNames)),
  worker: Type.Optional(Type.String()),
  q: Type.Optional(Type.String({ maxLength: 1024 })),
  order: Type.Optional(word(["asc", "desc"])),
});

export const EventRow = Type.Object({
  id: Type.String({ description: "Journal position and place: the order of arrival." }),
  protocol: Type.String(),
  type: Type.String(),
  worker: Type.String(),
  seq: nullable(Int64),
  ts_ns: TimeNs,
  received_ns: TimeNs,
  /** The record's text: as it came when that is kept, else rebuilt and equal in every value. */
  text: Type.String(),
  rebuilt: Type.Boolean(),
  /** For a record of more than 64 KiB, `text` is only the beginning; of its largest part, if it has several. */
  cut_from: CutFrom,
  /** Names of the row flags that are set, e.g. `odd_value`, `unknown_type`. */
  flags: Type.Array(Type.String()),
});
export type EventRow = Static<typeof EventRow>;
export const EventPath = Type.Object({
  id: Type.String({ minLength: 1 }),
  event: Type.String({
    pattern: "^(?:\\w{1,64}-)?\\d{1,18}\\.\\d{1,10}$",
    description: "The `id` of an event, a log line or a param.",
  }),
});

export const EventsAnswer = Type.Object({
  events: Type.Array(EventRow),
  next: NextCursor,
  types: Type.Record(Type.String(), Count),
  as_of: AsOf,
});
export type EventsAnswer = Static<typeof EventsAnswer>;

export const WorkerSequence = Type.Object({
  worker: Type.String(),
  incarnation: Count,
  first_seq: Int64,
  last_seq: Int64,
  received: Count,
  duplicates: Count,
  conflicts: Count,
  missing: Count,
  first_ns: TimeNs,
  last_ns: TimeNs,
  /** At most 1,000, in order. */
  gaps: Type.Array(Type.Object({ from_seq: Int64, to_seq: Int64 })),
});
export type WorkerSequence = Static<typeof WorkerSequence>;
export const GapsAnswer = Type.Object({
  sequences: Type.Array(WorkerSequence),
  missing: Count,
  duplicates: Count,
  as_of: AsOf,
});
export type GapsAnswer = Static<typeof GapsAnswer>;

export const FaultsQuery = Type.Object({
  ...PageQuery,
  ...WindowQuery,
  code: Type.Optional(repeated(Type.String(), 64)),
  protocol: Type.Optional(Type.String()),
});

export const FaultRow = Type.Object({
  id: Type.String(),
  run: nullable(Type.String()),
  code: Type.String(),
  blast: word(["record", "message", "stream"]),
  protocol: Type.String(),
  transport: Type.String(),
  /** What the code means and what to do, from the fault table. */
  means: Type.String(),
  hint: Type.String(),
  detail: Type.String(),
  place: Type.Object({
    file: Type.Optional(Type.String()),
    line: Type.Optional(Count),
    column: Type.Optional(Count),
    offset: Type.Optional(Count),
    pointer: Type.Optional(Type.String()),
  }),
  received_ns: TimeNs,
  raw_bytes: Count,
  /** The first 4,096 bytes. */
  raw_base64: Type.String(),
});
export type FaultRow = Static<typeof FaultRow>;
export const FaultsAnswer = Type.Object({
  faults: Type.Array(FaultRow),
  next: NextCursor,
  codes: Type.Record(Type.String(), Count),
  as_of: AsOf,
});
export const FaultPath = Type.Object({ fault: Type.String({ minLength: 1 }) });
