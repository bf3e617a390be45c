// What questions are answered from: the stored rows, the blobs, and what is kept of earlier answers.

import type { BlobStore } from "#store/blobs/blob-store.ts";
import { readSharedStore } from "#store/shared-reads.ts";
import type { Store } from "#store/store.ts";
import { RunTables, runSource, usualTables } from "./runs/tables.ts";
import { PointCache, pointReads } from "./series/point-cache.ts";
import { Timelines, timelineReads } from "./timeline/timelines.ts";

export interface Sources {
  readonly store: Store;
  readonly blobs: BlobStore;
  /** The tables of runs. */
  readonly runs: RunTables;
  readonly points: PointCache;
  readonly timelines: Timelines;
  /** Resolves when what was accepted until now can be queried. */
  caughtUp(): Promise<void>;
}

export interface SourcesOptions {
  readonly store: Store;
  readonly blobs: BlobStore;
  caughtUp(): Promise<void>;
}

export function createSources({ store: written, blobs, caughtUp }: SourcesOptions): Sources {
  const store = readSharedStore(written);
  return {
    store,
    blobs,
    caughtUp,
    // Several collectors may share a server, and none is told of all that the others store.
    runs: new RunTables(runSource(store), { ...usualTables, kept: store.kind === "embedded" }),
    points: new PointCache(pointReads(store)),
    timelines: new Timelines(timelineReads(store)),
  };
}
