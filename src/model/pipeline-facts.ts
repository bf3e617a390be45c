// What the store says about Semantiva pipelines and launches, before anything is concluded from it. Rows are named as
// their columns are.

interface Arrived {
  readonly event_id: string;
  /** The order of arrival. */
  readonly jpos: number;
  readonly jrow: number;
  readonly received_ns: bigint;
}

/** A lifecycle line. */
export interface LifecycleRow extends Arrived {
  readonly group_key: string;
  readonly type: string;
  readonly run_id: string;
  readonly launch_id: string;
  readonly attempt: number | null;
  readonly run_index: number | null;
  /** Strict JSON with sorted keys, '' for none. */
  readonly context: string;
  readonly pipeline_id: string;
  readonly semantic_id: string;
  readonly config_id: string;
  readonly expected: readonly string[];
  readonly outcome: string;
  readonly planned_runs: number | null;
  readonly total_runs: number | null;
  /** '' when absent. */
  readonly timestamp: string;
  readonly ts_ns: bigint;
  readonly seq: number | null;
}

/** A SER. */
export interface NodeRow extends Arrived {
  readonly group_key: string;
  readonly node_id: string;
  readonly pipeline_id: string;
  readonly status: string;
  /** The header's own time; the driver writes none. */
  readonly timestamp: string | null;
  readonly started_at: string;
  readonly finished_at: string;
  readonly start_ns: bigint;
  readonly end_ns: bigint;
  readonly wall_ms: number | null;
  readonly cpu_ms: number | null;
  readonly seq: number | null;
  readonly processor: string;
  readonly upstream: readonly string[];
}

/** What the completeness of a run hangs on. */
export interface CompletenessFacts {
  readonly run_id: string;
  readonly has_start: boolean;
  readonly has_end: boolean;
  /** The earliest time of a start line and the latest of an end line, as written; '' for none. */
  readonly start_timestamp: string;
  readonly end_timestamp: string;
  /** The earliest and latest time in the run's SERs; '' for none. */
  readonly first_node_timestamp: string;
  readonly last_node_timestamp: string;
  /** Distinct nodes: that the spec names, that were seen, and both. */
  readonly expected: number;
  readonly observed: number;
  readonly matched: number;
  readonly missing_nodes: readonly string[];
  readonly orphan_nodes: readonly string[];
  /** Their last status is none of succeeded, error, skipped, cancelled. */
  readonly nonterminal_nodes: readonly string[];
}

/** What the success of a run hangs on. */
export interface OutcomeFacts {
  readonly has_end: boolean;
  /** `summary.status` of the end line, '' when it says none. */
  readonly outcome: string;
  /** Nodes whose last status is `error`. */
  readonly failed_nodes: number;
}

/** A run that belongs to a launch. Members come in order: by index, then by their start. */
export interface LaunchMember extends OutcomeFacts {
  /** What the run is called today. */
  readonly run_id: string;
  readonly run_index: number | null;
  /** Strict JSON with sorted keys, '' for none. */
  readonly context: string;
  /** From its first start to its last end, by its own clock; null when one of them is not known. */
  readonly duration_ms: number | null;
}

/** A member with what it ran: the pipeline, what that means and how it is configured; '' where it does not say. */
export interface LaunchedRun extends LaunchMember {
  readonly pipeline_id: string;
  readonly semantic_id: string;
  readonly config_id: string;
}

/** Runs counted by what their success hangs on. */
export type OutcomeCount = OutcomeFacts & { readonly count: number };

/** A launch as its own lines describe it, and its runs counted by what their success hangs on. */
export interface LaunchHead {
  readonly launch_key: string;
  readonly launch_id: string;
  readonly attempt: number;
  readonly has_start: boolean;
  readonly has_end: boolean;
  readonly outcome: string;
  /** `run_space_planned_run_count` and `run_space_total_runs` of the start line. */
  readonly planned_runs: number | null;
  readonly total_runs: number | null;
  /** 0 when not known. */
  readonly start_ns: bigint;
  readonly end_ns: bigint;
  readonly last_received_ns: bigint;
  /** Distinct indexes among its runs. */
  readonly indexes: number;
  readonly runs: readonly OutcomeCount[];
}

/** What is known about a run's clock. */
export interface ClockFacts {
  /** Written and arrival times of the run's records, in nanoseconds: the extremes of each. */
  readonly first_ts_ns: bigint;
  readonly last_ts_ns: bigint;
  readonly first_received_ns: bigint;
  readonly last_received_ns: bigint;
  /** The greatest (written − arrival) of any record. */
  readonly most_ahead_ns: bigint;
  /** The records were read from files written earlier: then a written time long before arrival means nothing. */
  readonly imported: boolean;
}
