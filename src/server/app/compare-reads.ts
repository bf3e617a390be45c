// The reads of a comparison, bound to the store.

import type { CompareReads } from "#api/compare-reads.ts";
import * as compare from "#store/reader/compare.ts";
import type { Store } from "#store/store.ts";

export function createCompareReads(store: Store): CompareReads {
  const { database } = store;
  return {
    metrics: (groups) => store.query(compare.comparedMetricsQuery(database, groups)),
    spans: (groups) => store.query(compare.comparedSpansQuery(database, groups)),
    async tensors(groups) {
      const rows = await store.query<{ tensor: string }>(compare.sharedTensorsQuery(database, groups));
      return rows.map(({ tensor }) => tensor);
    },
    startTexts: (groups) => store.query(compare.startTextsQuery(database, groups)),
  };
}
