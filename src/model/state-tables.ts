// The small tables: state that changes, kept beside the facts. Each is read with the newest `version` of
// its key winning, and each is written only by a plan that also moves the journal records it came from.

export const stateTables = {
  /** Which run a group of rows belongs to today, before what people joined. Key: group_key. */
  groups: {
    group_key: "String",
    workspace: "LowCardinality(String)",
    protocol: "LowCardinality(String)",
    run_id: "String",
    /** Cirron: the root scope of the process session; '' for the other protocols. */
    session_id: "String",
    /** session, unresolved_parent, placeholder or none; '' for the other protocols. */
    root_kind: "LowCardinality(String)",
    rank: "Int32",
    pipeline_id: "Nullable(String)",
    deployment_id: "Nullable(String)",
    model_id: "Nullable(String)",
    forked: "UInt8",
    /** The group came by import, not from a live client. */
    imported: "UInt8",
    /** A deletion hides every row that came at or before this time; 0 when there was none. */
    deleted_ns: "Int64",
    version: "Int64",
  },
  /** On a store that collectors share: who has written rows of a group. With two writers, a row may be there twice.
   * Key: (group_key, collector). */
  writers: {
    group_key: "String",
    collector: "String",
    version: "Int64",
  },
  /** On a store that collectors share: under which groups the rows of a Cirron batch are stored, and where they came from.
   * With two groups, its rows may be there twice. Key: all but the version. */
  batch_places: {
    group_key: "String",
    batch_id: "String",
    collector: "String",
    /** In that collector's journal. */
    position: "Int64",
    version: "Int64",
  },
  /** On a store that collectors share: who they are and how far they had come, so that a copy of a data folder is
   * recognised as one. Written by each for itself. Key: collector. */
  collectors: {
    collector: "String",
    /** Differs after every start. */
    epoch: "String",
    /** A journal position that was stored. */
    position: "Int64",
    version: "Int64",
  },
  /** On a store that collectors share: orders to delete runs, which every collector carries out for what it accepted.
   * Key: order_id. */
  deletions: {
    order_id: "String",
    workspace: "LowCardinality(String)",
    /** JSON, see store/deletion-orders.ts: the groups as they were, and how far each collector's rows are covered. */
    body: "String",
    at_ns: "Int64",
    /** The rows that were stored at the time are removed. */
    done: "UInt8",
    version: "Int64",
  },
  /** Every id a run was ever known by. Key: (workspace, alias, group_key). */
  aliases: {
    workspace: "LowCardinality(String)",
    alias: "String",
    group_key: "String",
    version: "Int64",
  },
  /** The Cirron batches that were taken. Key: (workspace, batch_id, source). */
  cirron_batches: {
    workspace: "LowCardinality(String)",
    batch_id: "String",
    /** Key or import folder the batch came from. */
    source: "LowCardinality(String)",
    content_hash: "String",
    group_key: "String",
    run_override: "String",
    received_ns: "Int64",
    sdk_version: "LowCardinality(String)",
    created_ns: "Int64",
    spans: "UInt32",
    marks: "UInt32",
    snapshots: "UInt32",
    /** Strict JSON of unknown top-level keys, '' when there are none. */
    extra: "String",
    version: "Int64",
  },
  /** What grouping knows of Cirron rows that are tied together for good, so that they need not be read for it.
   * Key: group_key, the first of the component's keys. */
  cirron_components: {
    group_key: "String",
    workspace: "LowCardinality(String)",
    /** The component that this one is part of now; '' while it is one of its own. */
    merged_into: "String",
    first_ns: "Int64",
    last_ns: "Int64",
    /** JSON array of the keys and import folders that batches came from. */
    sources: "String",
    /** JSON, see intake/cirron/component-state.ts; '' when merged. */
    state: "String",
    version: "Int64",
  },
  /** Where the blob of a span and kind is. Key: (workspace, span_id, kind). */
  blobs: {
    workspace: "LowCardinality(String)",
    span_id: "String",
    /** weights, gradients, or `artifact:<name>` for a file stored under a run. */
    kind: "String",
    object_key: "String",
    size: "Int64",
    sha256: "String",
    content_type: "String",
    received_ns: "Int64",
    deleted: "UInt8",
    version: "Int64",
  },
  /** What people changed about a run. Key: (workspace, run_id). */
  run_edits: {
    workspace: "LowCardinality(String)",
    run_id: "String",
    name: "Nullable(String)",
    notes: "Nullable(String)",
    /** JSON object text of tags set by people, '' when none. */
    tags: "String",
    archived: "UInt8",
    author: "String",
    version: "Int64",
  },
  /** Runs that people joined to others: which run the groups of a run count to. Key: (workspace, run_id). */
  joins: {
    workspace: "LowCardinality(String)",
    /** The run as its records name it. */
    run_id: "String",
    /** A run that is joined to no other itself. */
    into_run: "String",
    /** The two were parted again. */
    parted: "UInt8",
    author: "String",
    version: "Int64",
  },
  /** API keys. Key: key_id. */
  keys: {
    key_id: "String",
    workspace: "LowCardinality(String)",
    name: "String",
    sha256: "String",
    scopes: "String",
    created_ns: "Int64",
    revoked: "UInt8",
    version: "Int64",
  },
  /** Commands to workers, one row per target worker and state reached. Key: (cmd_id, worker, state). */
  commands: {
    workspace: "LowCardinality(String)",
    run_id: "String",
    cmd_id: "String",
    worker: "String",
    type: "LowCardinality(String)",
    payload: "String",
    state: "LowCardinality(String)",
    reason: "String",
    author: "String",
    at_ns: "Int64",
    expires_ns: "Int64",
    version: "Int64",
  },
  /** What an administrator set, as JSON text. Key: (workspace, name). */
  settings: {
    workspace: "LowCardinality(String)",
    name: "String",
    value: "String",
    author: "String",
    version: "Int64",
  },
  /** Views of the page with a name. Key: (workspace, owner, page, name). */
  saved_views: {
    workspace: "LowCardinality(String)",
    /** The key whose view it is, or who is there without one; '' for a view that all share. */
    owner: "String",
    page: "LowCardinality(String)",
    name: "String",
    search: "String",
    author: "String",
    deleted: "UInt8",
    version: "Int64",
  },
  /** Who did what: edits, deletions, keys, commands. Key: (at_ns, action, subject). */
  audit: {
    workspace: "LowCardinality(String)",
    at_ns: "Int64",
    author: "String",
    action: "LowCardinality(String)",
    subject: "String",
    detail: "String",
    version: "Int64",
  },
  /** What rules saw of runs. Key: firing_id. */
  firings: {
    firing_id: "String",
    workspace: "LowCardinality(String)",
    rule: "LowCardinality(String)",
    kind: "LowCardinality(String)",
    run_id: "String",
    /** Where it was seen, by the run's own clock. */
    at_ns: "Int64",
    step: "Nullable(Int64)",
    metric: "String",
    text: "String",
    /** JSON array of sentences. */
    evidence: "String",
    /** 0 for a dry run: nothing left the server. */
    armed: "UInt8",
    fired_ns: "Int64",
    /** 0 while it holds, or when it is of a kind that does not go away. */
    resolved_ns: "Int64",
    /** JSON: the rule's actions as they were when it fired. */
    actions: "String",
    /** What came of the commands; '' while nothing has. */
    outcome: "String",
    version: "Int64",
  },
  /** Messages about firings to the outside. Key: delivery_id. */
  deliveries: {
    delivery_id: "String",
    firing_id: "String",
    workspace: "LowCardinality(String)",
    /** Who sends it. */
    collector: "LowCardinality(String)",
    /** A URL, or `mailto:` and an address. */
    target: "String",
    /** firing or resolved. */
    event: "LowCardinality(String)",
    /** queued, sent or given_up. */
    state: "LowCardinality(String)",
    attempts: "UInt32",
    next_ns: "Int64",
    note: "String",
    version: "Int64",
  },
} as const;

export type StateTable = keyof typeof stateTables;

interface CellOf {
  String: string;
  "LowCardinality(String)": string;
  Int64: bigint;
  Int32: number;
  UInt32: number;
  UInt8: number;
  "Nullable(String)": string | null;
  "Nullable(Int64)": bigint | null;
}

export type StateRow<T extends StateTable> = {
  readonly [C in keyof (typeof stateTables)[T]]: (typeof stateTables)[T][C] extends keyof CellOf
    ? CellOf[(typeof stateTables)[T][C]]
    : never;
};

/** One row for one of the small tables. */
export type StateChange = { readonly [T in StateTable]: { readonly table: T; readonly row: StateRow<T> } }[StateTable];
