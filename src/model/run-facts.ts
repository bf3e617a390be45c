// What the store says about runs, before anything is concluded from it. Heads, statuses and times are derived
// from these when they are read.

/** A group of rows and what the store knows about it as a whole. */
export interface GroupFacts {
  readonly groupKey: string;
  readonly protocol: string;
  readonly runId: string;
  readonly sessionId: string;
  readonly rootKind: string;
  readonly rank: number;
  readonly forked: boolean;
  readonly imported: boolean;
  /** By the clients' clocks; null when nothing with a time is stored. */
  readonly firstNs: bigint | null;
  readonly lastNs: bigint | null;
  readonly lastReceivedNs: bigint;
  readonly faults: number;
  /** XTrack events that came again, and those that never came. */
  readonly duplicates: number;
  readonly missing: number;
  /** Points that are NaN or ±Infinity. */
  readonly nonfinite: number;
  readonly pipelineId: string | null;
  readonly deploymentId: string | null;
  readonly modelId: string | null;
}

/** One XTrack run_start. */
export interface StartFact {
  readonly groupKey: string;
  readonly worker: string;
  readonly tsNs: bigint;
  readonly name: string;
  readonly experiment: string;
  readonly parent: string;
  /** Strict JSON text of `tags`, '' when absent. */
  readonly tags: string;
  readonly host: string;
  readonly commit: string;
  readonly branch: string;
}

/** One XTrack run_end. */
export interface EndFact {
  readonly groupKey: string;
  readonly worker: string;
  readonly tsNs: bigint;
  readonly status: string;
  readonly errorType: string;
  readonly errorMessage: string;
}

/** The last XTrack status event of a worker. */
export interface StatusFact {
  readonly groupKey: string;
  readonly worker: string;
  readonly tsNs: bigint;
  readonly status: string;
  readonly message: string;
  /** Strict JSON text of `progress`, '' when absent. */
  readonly progress: string;
}

/** Semantiva's pipeline lines of a run, and its place in a launch. */
export interface PipelineFact {
  readonly groupKey: string;
  readonly hasStart: boolean;
  readonly hasEnd: boolean;
  readonly startNs: bigint;
  readonly endNs: bigint;
  /** summary.status of pipeline_end, '' when there is none. */
  readonly outcome: string;
  readonly nodeErrors: number;
  readonly nodeError: string;
  readonly launchId: string;
  readonly attempt: bigint | null;
  readonly index: bigint | null;
}

/** What `tributary run` saw of the process. */
export interface WrapperFact {
  readonly groupKey: string;
  readonly startNs: bigint;
  /** Null while the process runs. */
  readonly endNs: bigint | null;
  readonly exitCode: number | null;
  readonly signal: string;
  readonly name: string;
}

export interface RunFacts {
  readonly runId: string;
  readonly groups: readonly GroupFacts[];
  readonly starts: readonly StartFact[];
  readonly ends: readonly EndFact[];
  readonly statuses: readonly StatusFact[];
  readonly pipelines: readonly PipelineFact[];
  readonly wrappers: readonly WrapperFact[];
  readonly edit: EditFact | null;
  /** XTrack events that never came, counted over all incarnations of all workers. */
  readonly missing: number;
}

/** What people changed about a run. */
export interface EditFact {
  readonly name: string | null;
  readonly notes: string | null;
  /** JSON array text, '' when the tags were not edited. */
  readonly tags: string;
  readonly archived: boolean;
  readonly author: string;
  readonly atNs: bigint;
}
