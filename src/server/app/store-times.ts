// A store that measures its own calls, for the Health page and Prometheus.

import type { Metrics } from "#server/metrics.ts";
import type { Store } from "#store/store.ts";

export interface StoreTimes {
  wrap(inner: Store): Store;
  /** In milliseconds, over the last calls; 0 without any. */
  percentiles(kind: "insert" | "query"): { readonly p50: number; readonly p95: number };
}

const keptMax = 500;

export function createStoreTimes(metrics: Metrics): StoreTimes {
  const kept = { insert: [] as number[], query: [] as number[] };
  const note = (kind: "insert" | "query", label: string, beganMs: number) => {
    const ms = performance.now() - beganMs;
    const list = kept[kind];
    list.push(ms);
    if (list.length > keptMax) list.shift();
    if (kind === "insert") metrics.insertSeconds.observe({ table: label }, ms / 1000);
    else metrics.querySeconds.observe({ kind: label }, ms / 1000);
  };
  const wrap = (inner: Store): Store =>
    Object.assign(Object.create(inner) as Store, {
      async insert(...[table, block, options]: Parameters<Store["insert"]>) {
        const beganMs = performance.now();
        await inner.insert(table, block, options);
        note("insert", table, beganMs);
      },
      async *stream(...given: Parameters<Store["stream"]>) {
        const beganMs = performance.now();
        let isAnswered = false;
        for await (const chunk of inner.stream(...given)) {
          // The rest comes only as fast as it is read.
          if (!isAnswered) note("query", "stream", beganMs);
          isAnswered = true;
          yield chunk;
        }
        if (!isAnswered) note("query", "stream", beganMs);
      },
      async answer(...given: Parameters<Store["answer"]>) {
        const beganMs = performance.now();
        const answer = await inner.answer(...given);
        note("query", "sql", beganMs);
        return answer;
      },
    });
  return {
    wrap,
    percentiles(kind) {
      const sorted = kept[kind].toSorted((a, b) => a - b);
      const at = (part: number) => Math.round((sorted[Math.floor(part * (sorted.length - 1))] ?? 0) * 100) / 100;
      return { p50: at(0.5), p95: at(0.95) };
    },
  };
}
