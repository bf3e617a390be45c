// What questions are answered from: the stored rows, the blobs, and what is kept of earlier answers.

import type { BlobStore } from "#store/blobs/blob-store.ts";
import { readSharedStore } from "#store/shared-reads.ts";
import { type Store, withOptions } from "#store/store.ts";
import { Kept, keptBytesUsual } from "./kept.ts";
import { keepAnswers } from "./kept-answers.ts";
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

/** What is asked of the store ends when `signal` is aborted. */
export function endedBy(sources: Sources, signal: AbortSignal): Sources {
  return { ...sources, store: withOptions(sources.store, { signal }) };
}

export interface SourcesOptions {
  readonly store: Store;
  readonly blobs: BlobStore;
  caughtUp(): Promise<void>;
  /** Of everything that is kept in memory of earlier answers. */
  readonly keptBytesMax?: number;
}

/** Of the budget, for the engine's small answers: they are many, and each that is asked for once would push columns out. */
const answersShare = 1 / 64;

export function createSources({
  store: written,
  blobs,
  caughtUp,
  keptBytesMax = keptBytesUsual,
}: SourcesOptions): Sources {
  const store = keepAnswers(readSharedStore(written), new Kept(Math.floor(keptBytesMax * answersShare)));
  const kept = new Kept(Math.floor(keptBytesMax * (1 - answersShare)));
  return {
    store,
    blobs,
    caughtUp,
    runs: new KeptRuns(runSource(store), kept),
    points: new KeptPoints(pointReads(store), kept),
    timelines: new KeptTimelines(timelineReads(store), kept),
  };
}
