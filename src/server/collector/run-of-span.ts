// Which run a span belongs to, so that its tensors are stored beside the run: memory tells for what is live, the store
// for the rest.

import { spanKey } from "#intake/cirron/stored-group.ts";
import { parseGroupKey } from "#model/group-key.ts";
import type { StateRow } from "#model/state-tables.ts";
import { readGroupsOfIds } from "#store/reader/cirron-identity.ts";
import { readGroupRows } from "#store/reader/restore.ts";
import type { Collector } from "./collector.ts";
import { toGroupRow } from "./stored-groups.ts";

/** The run of a span that has arrived or that other rows name, as far as memory has it. */
export function liveRunOfSpan({ applier }: Collector, workspace: string, spanId: string): string | undefined {
  return applier.state.cirron.of(workspace).runOfSpan(spanId);
}

/** Without its store nobody can tell: then the span counts as unknown. */
export async function findRunOfSpan(
  collector: Collector,
  workspace: string,
  spanId: string,
): Promise<string | undefined> {
  const live = liveRunOfSpan(collector, workspace, spanId);
  if (live !== undefined) return live;
  const { store } = collector;
  try {
    const found = await readGroupsOfIds(store, [spanKey(spanId)]);
    const keys = found.map(({ groupKey }) => groupKey).filter((key) => parseGroupKey(key).workspace === workspace);
    if (keys.length === 0) return undefined;
    const rows = await readGroupRows<Record<keyof StateRow<"groups">, string>>(store, "groups", keys);
    return rows.map(toGroupRow).find(({ deleted_ns }) => deleted_ns === 0n)?.run_id;
  } catch {
    return undefined;
  }
}
