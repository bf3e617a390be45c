// Groups of an older release get their components while the server works. Until then, a group is read whole when a record
// names it.

import { setImmediate } from "node:timers/promises";
import { nowNs } from "#base/clock.ts";
import type { StoredGroupRows } from "#intake/cirron/stored-group.ts";
import { parseGroupKey } from "#model/group-key.ts";
import { readGroupsWithoutComponent } from "#store/reader/cirron-identity.ts";
import type { Collector } from "./collector.ts";
import { readStoredGroups } from "./stored-groups.ts";

const groupsAtOnce = 200;

export async function upgradeGroups(collector: Collector, isClosing: () => boolean): Promise<void> {
  const { store, applier } = collector;
  for (;;) {
    const keys = await readGroupsWithoutComponent(store, groupsAtOnce);
    if (keys.length === 0) return;
    for (const key of keys) {
      if (isClosing()) return;
      // One at a time: a group may hold millions of rows.
      const [group] = (await readStoredGroups(store, [key])) as [StoredGroupRows];
      const { workspace } = parseGroupKey(key);
      const adopt = () => applier.state.cirron.of(workspace).adopt(group, { receivedNs: nowNs(), position: 0 });
      const changes = await applier.whenIdle(adopt);
      if (changes.length > 0) await collector.change(changes, workspace, "");
      await setImmediate();
    }
    await collector.drained();
  }
}
