// A page of a run's records, and which of its logs.

export interface PageOf {
  readonly groups: readonly string[];
  readonly limit: number;
  /** What the last row of the page before was sorted by. */
  readonly after: readonly string[] | null;
  readonly fromNs: bigint | null;
  readonly toNs: bigint | null;
}

export interface LogFilter extends PageOf {
  readonly levels: readonly string[];
  readonly text: string;
  readonly workers: readonly string[];
  readonly stream: string;
  readonly fromStep: bigint | null;
  readonly toStep: bigint | null;
  readonly descending: boolean;
}
