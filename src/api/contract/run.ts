// Runs: the table, one run, its edits.
//
// A *field* names a value a run can be filtered, sorted, grouped and shown by:
//   id name status status_raw protocol experiment tags host user commit branch start end duration workers
//   launch attempt index parent archived notes error faults gaps
//   params.<name>
//   metrics.<key>.<first|last|min|max|count|nonfinite>, one phase only: metrics.<key>@<phase>.last
// A name with characters other than letters, digits and _ . / - @ is written in double quotes: params."my key".
//
// filter := or · or := and {OR and} · and := not {AND not} · not := [NOT] ( "(" or ")" | test | word )
// test := field (":" | "=" | "==" | "!=" | "<" | "<=" | ">" | ">=" | "~") value ; ":" is equality or, for lists,
// "contains"; "==" is the exact text that runs are grouped by, `""` where there is none; "~" is a case-insensitive
// substring, or a pattern with * ; a bare word matches name, id, experiment and tags.
// Times are RFC 3339 or relative (-2h); durations have units (14.2s, 3m); NaN, Infinity are values.

import type { Static } from "typebox";
import { protocolNames } from "#protocol/facts.ts";
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
  word,
} from "./scalar.ts";
import { strict, Type } from "./schema.ts";

export const RunStatus = word(["running", "completed", "failed", "killed", "lost", "unknown"]);
export type RunStatus = Static<typeof RunStatus>;

export const Protocol = word(protocolNames);

/** A value in a table: its exact text, and its number when it is one. */
export const Cell = Type.Object({
  text: Type.String(),
  num: nullable(Float),
  /** Metrics: how many points of the series are NaN or ±Infinity. */
  nonfinite: Type.Optional(Count),
});
export type Cell = Static<typeof Cell>;

export const Progress = Type.Object({
  current: Float,
  total: nullable(Float),
  unit: Type.String(),
  message: Type.String(),
});

export const LaunchLink = Type.Object({ id: Type.String(), attempt: Count, index: nullable(Count) });

/** At most 48 buckets of one series: enough to draw it in a table cell. */
export const Spark = Type.Object({
  key: Type.String(),
  min: Type.Array(nullable(Type.Number())),
  max: Type.Array(nullable(Type.Number())),
  last: Type.Array(nullable(Float)),
});
export type Spark = Static<typeof Spark>;

export const RunSummary = Type.Object({
  id: Type.String(),
  name: Type.String({ description: "The edited name, else the one that was sent, else the id." }),
  status: RunStatus,
  status_raw: Type.String({ description: "The client's own word, '' when none." }),
  protocols: Type.Array(Protocol),
  experiment: Type.String(),
  /** A tag sent as a key with a value is `key=value`. */
  tags: Type.Array(Type.String()),
  start_ns: nullable(TimeNs),
  end_ns: nullable(TimeNs),
  duration_ns: nullable(Int64),
  updated_ns: TimeNs,
  progress: nullable(Progress),
  workers: Count,
  launch: nullable(LaunchLink),
  parent: nullable(Type.String()),
  archived: Type.Boolean(),
  /** The first line of the error, '' when there is none. */
  error: Type.String(),
  integrity: Type.Object({ faults: Count, missing: Count, duplicates: Count, nonfinite: Count }),
  /** Asked-for columns by field name; a field this run does not have is left out. */
  cells: Type.Record(Type.String(), Cell),
  spark: Type.Optional(nullable(Spark)),
  /** The value of the group this run is in, when grouping. */
  group: Type.Optional(Type.String()),
});
export type RunSummary = Static<typeof RunSummary>;

export const RunsQuery = Type.Object({
  ...PageQuery,
  filter: Type.Optional(Type.String({ maxLength: 4096 })),
  sort: Type.Optional(repeated(Type.String({ description: "A field, with `-` in front for descending." }), 4)),
  columns: Type.Optional(repeated(Type.String({ description: "Fields to return in `cells`." }), 64)),
  group: Type.Optional(Type.String({ description: "A field to group the runs by." })),
  spark: Type.Optional(
    Type.String({ description: "A metric key (`key` or `key@phase`) to return as a small series." }),
  ),
  archived: Type.Optional(word(["hide", "show", "only"])),
});
export type RunsQuery = Static<typeof RunsQuery>;

export const RunGroup = Type.Object({
  value: Type.String(),
  runs: Count,
  statuses: Type.Record(Type.String(), Count),
  /** Over the finite numbers of each asked-for column, and how many are NaN or ±Infinity. */
  aggregates: Type.Record(
    Type.String(),
    Type.Object({
      count: Count,
      nonfinite: Count,
      min: nullable(Type.Number()),
      median: nullable(Type.Number()),
      mean: nullable(Type.Number()),
      max: nullable(Type.Number()),
    }),
  ),
  /** The filter that selects exactly this group. */
  filter: Type.String(),
});
export type RunGroup = Static<typeof RunGroup>;

export const RunsAnswer = Type.Object({
  runs: Type.Array(RunSummary),
  next: NextCursor,
  total: Count,
  /** Present when grouping: every group in order, at most 1,000. */
  groups: Type.Optional(Type.Array(RunGroup)),
  as_of: AsOf,
});
export type RunsAnswer = Static<typeof RunsAnswer>;

/** A field that some run has: for column choice and completion in the filter box. */
export const FieldInfo = Type.Object({
  field: Type.String(),
  kind: word(["run", "param", "metric"]),
  type: word(["number", "text", "mixed", "time"]),
  runs: Count,
  examples: Type.Array(Type.String(), { maxItems: 8 }),
});
export type FieldInfo = Static<typeof FieldInfo>;

export const FieldsQuery = Type.Object({ q: Type.Optional(Type.String({ maxLength: 256 })) });
export const FieldsAnswer = Type.Object({ fields: Type.Array(FieldInfo), as_of: AsOf });

export const Worker = Type.Object({
  worker: Type.String(),
  rank: nullable(Count),
  pid: nullable(Int64),
  host: Type.String(),
  status: RunStatus,
  connected: Type.Boolean(),
  first_ns: nullable(TimeNs),
  last_ns: nullable(TimeNs),
  /** How many times this worker started over under the same run id. */
  incarnations: Count,
});
export type Worker = Static<typeof Worker>;

export const BestCheckpoint = Type.Object({
  step: nullable(Int64),
  path: Type.String({ description: "The client's path: text, never opened." }),
  best_key: Type.String(),
  metrics: Type.Record(Type.String(), Float),
  worker: Type.String(),
  ts_ns: TimeNs,
});

export const WorkerDuration = Type.Object({
  worker: Type.String(),
  clock_ns: nullable(Int64),
  arrival_ns: nullable(Int64),
  said_ms: nullable(Int64),
});

export const RunError = Type.Object({ type: Type.String(), message: Type.String(), traceback: Type.String() });

export const Run = Type.Object({
  ...RunSummary.properties,
  /** What the client called it, '' when it gave no name. */
  name_sent: Type.String(),
  notes: Type.String(),
  aliases: Type.Array(Type.String()),
  /** Other runs the asked-for alias also names. */
  also: Type.Array(Type.String()),
  params: Type.Record(Type.String(), JsonText, { description: "At most 10,000 by name; `GET …/params` has all." }),
  source: Type.Record(Type.String(), Type.String(), { description: "git commit, branch, remote, dirty, file, …" }),
  env: Type.Record(Type.String(), Type.String()),
  error_detail: nullable(RunError),
  worker_list: Type.Array(Worker),
  /** Sentences about this run's data a reader should know: no session span, local clock with Z, forked, … */
  notes_on_data: Type.Array(Type.String()),
  counts: Type.Object({
    metrics: Count,
    points: Count,
    spans: Count,
    marks: Count,
    nodes: Count,
    snapshots: Count,
    logs: Count,
    artifacts: Count,
    checkpoints: Count,
    events: Count,
    faults: Count,
    missing: Count,
    duplicates: Count,
    commands: Count,
  }),
  final_metrics: Type.Record(Type.String(), Float, {
    description: "From the latest end of each worker; if workers differ, from the first by name.",
  }),
  /** XTrack: the checkpoint that was last called best. */
  best_checkpoint: nullable(BestCheckpoint),
  /** XTrack: how long each worker took, three ways that may differ. */
  durations: Type.Array(WorkerDuration),
  /** Runs that people joined to this one. */
  joined: Type.Array(Type.Object({ id: Type.String(), by: Type.String(), at_ns: TimeNs })),
  edits: Type.Array(Type.Object({ field: Type.String(), value: JsonText, by: Type.String(), at_ns: TimeNs })),
  as_of: AsOf,
});
export type Run = Static<typeof Run>;

export const JoinRunsBody = strict({
  ids: Type.Array(Type.String({ minLength: 1 }), {
    minItems: 1,
    maxItems: 100,
    description: "The runs to join to this one, by any of their ids.",
  }),
});
export const PartRunsAnswer = Type.Object({ parted: Type.Array(Type.String()), as_of: AsOf });

export const RunPatch = strict(
  {
    name: Type.Optional(
      nullable(Type.String({ maxLength: 512, description: "null restores the name that was sent." })),
    ),
    notes: Type.Optional(Type.String({ maxLength: 65536 })),
    tags: Type.Optional(nullable(Type.Array(Type.String({ maxLength: 256 }), { maxItems: 128 }))),
    archived: Type.Optional(Type.Boolean()),
  },
  { minProperties: 1 },
);

/** Deleting many: `expect` is the number the person was shown; another number now is refused with 409. */
export const DeleteRunsBody = strict({
  filter: Type.Optional(Type.String({ maxLength: 4096 })),
  ids: Type.Optional(Type.Array(Type.String(), { maxItems: 10000 })),
  expect: Count,
});
export const DeleteRunsAnswer = Type.Object({ deleted: Count, as_of: AsOf });
