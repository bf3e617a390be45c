// What questions are answered from: the stored rows, the blobs, and what is kept of earlier answers.

import type { BlobStore } from "#store/blobs/blob-store.ts";
import { readSharedStore } from "#store/shared-reads.ts";
import type { Store } from "#store/store.ts";
import { Kept, keptBytesUsual } from "./kept.ts";
import { KeptRuns, runSource } from "./runs/kept-runs.ts";
import { KeptPoints, pointReads } from "./series/kept-points.ts";
import { KeptTimelines, timelineReads } from "./timeline/kept-timelines.ts";

export interface Sources {
  readonly store: Store;
  readonly blobs: BlobStore;
  readonly runs: KeptRuns;
  readonly points: KeptPoints;
  readonly timelines: KeptTimelines;
  /** Resolves when what was accepted until now can be queried. */
  caughtUp(): Promise<void>;
}

export interface SourcesOptions {
  readonly store: Store;
  readonly blobs: BlobStore;
  caughtUp(): Promise<void>;
  /** Of everything that is kept in memory of earlier answers. */
  readonly keptBytesMax?: number;
}

export function createSources({
  store: written,
  blobs,
  caughtUp,
  keptBytesMax = keptBytesUsual,
}: SourcesOptions): Sources {
  const store = readSharedStore(written);
  const kept = new Kept(keptBytesMax);
  return {
    store,
    blobs,
    caughtUp,
    runs: new KeptRuns(runSource(store), kept),
    points: new KeptPoints(pointReads(store), kept),
    timelines: new KeptTimelines(timelineReads(store), kept),
  };
}
