// Series: from the points that are kept here, or, when there are too many of them to be held, bucketed by the engine.

import type { Reads } from "#api/reads.ts";
import type { SeriesRequest } from "#model/series-request.ts";
import { PointCache, type PointLimits } from "#query/series/point-cache.ts";
import { seriesOf } from "#query/series/series.ts";
import { readPointBlocks, readPointParts, readPointState } from "#store/reader/points.ts";
import { readSeries } from "#store/reader/series.ts";
import type { Store } from "#store/store.ts";

/** A point takes about 40 bytes. */
const usualLimits: PointLimits = { bytesMax: 256 * 1024 * 1024, pointsMax: 4_000_000 };

export function createSeriesReads(store: Store, limits: PointLimits = usualLimits): Reads["series"] {
  const cache = new PointCache(
    {
      parts: (request) => readPointParts(store, request),
      state: (request, before) => readPointState(store, request, before),
      blocks: (request, range, signal) => readPointBlocks(store, request, range, { signal }),
    },
    limits,
  );
  return async function* ({ groups, ...rest }, signal) {
    const sources = groups.map(({ groupKey, run, protocol, rank }) => ({
      groupKey,
      run,
      worker: protocol === "cirron" ? String(rank) : null,
    }));
    const request: SeriesRequest = { ...rest, groups: sources };
    yield* (await seriesOf(cache, request, signal)) ?? readSeries(store, request, signal);
  };
}
