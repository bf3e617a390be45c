// Which run a span belongs to, so that its tensors are stored with the run. Memory knows the runs of live spans; the
// store knows the rest.

import { spanKey } from "#intake/cirron/stored-group.ts";
import { parseGroupKey } from "#model/group-key.ts";
import { readGroupsOfIds } from "#store/reader/cirron-identity.ts";
import { readGroupRows } from "#store/reader/state-rows.ts";
import type { Store } from "#store/store.ts";
import type { Collector } from "./collector.ts";

/** The run of a span that has arrived, or that other rows name, if it is in memory. */
export function liveRunOfSpan({ applier }: Collector, workspace: string, spanId: string): string | undefined {
  return applier.state.cirron.of(workspace).runOfSpan(spanId);
}

export interface SpanPlace {
  readonly workspace: string;
  readonly spanId: string;
}

/** Undefined while the store is away. */
export async function findRunOfSpan(collector: Collector, place: SpanPlace): Promise<string | undefined> {
  return (await findRunsOfSpans(collector, [place]))[0];
}

/** In the order of the places; two questions for all of them. */
export async function findRunsOfSpans(
  collector: Collector,
  places: readonly SpanPlace[],
): Promise<(string | undefined)[]> {
  const live = places.map(({ workspace, spanId }) => liveRunOfSpan(collector, workspace, spanId));
  const stored = await readRuns(
    collector.store,
    places.filter((_, at) => live[at] === undefined),
  );
  return places.map((place, at) => live[at] ?? stored.get(nameOf(place)));
}

async function readRuns(store: Store, places: readonly SpanPlace[]): Promise<Map<string, string>> {
  const runs = new Map<string, string>();
  if (places.length === 0) return runs;
  try {
    const found = await readGroupsOfIds(
      store,
      places.map(({ spanId }) => spanKey(spanId)),
    );
    if (found.length === 0) return runs;
    const groupKeys = [...new Set(found.map(({ groupKey }) => groupKey))];
    const rows = await readGroupRows(store, "groups", groupKeys);
    const living = rows.filter(({ deleted_ns }) => deleted_ns === 0n);
    const runOf = new Map(living.map(({ group_key, run_id }) => [group_key, run_id]));
    const groupsOf = Map.groupBy(found, ({ key }) => key);
    for (const place of places) {
      const groups = groupsOf.get(spanKey(place.spanId)) ?? [];
      const own = groups.filter(({ groupKey }) => parseGroupKey(groupKey).workspace === place.workspace);
      const run = own.map(({ groupKey }) => runOf.get(groupKey)).find((one) => one !== undefined);
      if (run !== undefined) runs.set(nameOf(place), run);
    }
  } catch {
    runs.clear();
  }
  return runs;
}

function nameOf({ workspace, spanId }: SpanPlace): string {
  return `${workspace}\0${spanId}`;
}
