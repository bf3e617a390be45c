// Who writes to which group, in a store that several share. A group with two writers is read without copies.

import { randomUUID } from "node:crypto";
import { nowNs } from "#base/clock.ts";
import { stateTables } from "#model/state-tables.ts";
import { encodeObjects } from "./native/encode-objects.ts";
import type { Store } from "./store.ts";

export async function noteWriters(
  store: Store,
  groupKeys: Iterable<string>,
  collectors: readonly string[],
): Promise<void> {
  const version = nowNs();
  const rows = [...groupKeys].flatMap((group_key) =>
    collectors.map((collector) => ({ group_key, collector, version })),
  );
  if (rows.length === 0) return;
  await store.insert("writers", encodeObjects(stateTables.writers, rows), { token: `writers-${randomUUID()}` });
}
