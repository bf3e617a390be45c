// The reads about pipelines and launches, bound to the store's readers.

import type { PipelineReads } from "#api/pipeline-reads.ts";
import * as pipelines from "#store/reader/pipelines.ts";
import type { Store } from "#store/store.ts";

export function createPipelineReads(store: Store): PipelineReads {
  return {
    completeness: (scope, signal) => pipelines.readCompleteness(store, scope, { signal }),
    lifecycle: (groups) => pipelines.readLifecycle(store, groups),
    nodes: (groups) => pipelines.readNodes(store, groups),
    payloads: (groups, eventIds) => pipelines.readPayloads(store, groups, eventIds),
    clocks: (groups) => pipelines.readClocks(store, groups),
    launches: (page, signal) => pipelines.readLaunches(store, page, { signal }),
    launchStarts: (launchKeys) => pipelines.readLaunchStarts(store, launchKeys),
    launch: (launchKey, signal) => pipelines.readLaunch(store, launchKey, { signal }),
    attempts: (workspace, launchIds) => pipelines.readAttempts(store, workspace, launchIds),
  };
}
