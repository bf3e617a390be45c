// A folder of an older release, brought up to date while the server works: the ids of its Cirron rows are put where they
// are found by, and each of its groups gets its component. Until then groups are read whole when something names them.

import { setImmediate } from "node:timers/promises";
import { nowNs } from "#base/clock.ts";
import { parseGroupKey } from "#model/group-key.ts";
import { readGroupsWithoutComponent } from "#store/reader/cirron-identity.ts";
import { fillInBackground, isFilled } from "#store/schema/migrate.ts";
import type { Collector } from "./collector.ts";
import { readOutline } from "./outline.ts";
import { readStoredGroup } from "./stored-groups.ts";

const groupsAtOnce = 200;

export async function upgradeStore(collector: Collector, isClosing: () => boolean): Promise<void> {
  const { store, applier } = collector;
  if (await isFilled(store)) return;
  await fillInBackground(store);
  applier.state.warm(await readOutline(store));
  for (;;) {
    const keys = await readGroupsWithoutComponent(store, groupsAtOnce);
    if (keys.length === 0) return;
    for (const key of keys) {
      if (isClosing()) return;
      const group = await readStoredGroup(store, key);
      const { workspace } = parseGroupKey(key);
      const changes = applier.cirronOf(workspace).adopt(group, { receivedNs: nowNs(), position: 0 });
      if (changes.length > 0) await collector.change(changes, workspace, "");
      await setImmediate();
    }
    await collector.drained();
  }
}
