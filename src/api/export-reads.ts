// What the export routes read: whole runs as streams.

import type { TraceSlice } from "#query/export/chrome-trace.ts";
import type { ResolvedRun } from "./reads.ts";

export interface ExportScope {
  readonly workspace: string;
  readonly runs: readonly string[];
}

export interface ExportReads {
  /** Everything of these runs, one line each, to be imported again. */
  lines(
    workspace: string,
    runs: Iterable<ResolvedRun>,
    /** Not only these runs: launches without one too. */
    isEverything: boolean,
    signal: AbortSignal,
  ): AsyncIterable<Uint8Array>;
  /** One kind as JSON arrays, a line each; names are known before the first row. */
  rows(
    kind: string,
    scope: ExportScope,
    signal: AbortSignal,
  ): Promise<{ readonly names: readonly string[]; readonly chunks: AsyncIterable<Uint8Array> }>;
  parquet(kind: string, scope: ExportScope, signal: AbortSignal): AsyncIterable<Uint8Array>;
  /** By start, the longer one first. */
  slices(groups: readonly string[], signal: AbortSignal): AsyncIterable<TraceSlice>;
}
