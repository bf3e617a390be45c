// A collector whose store does not answer a question of its start at first, in a process that has nothing else to do.

import { StoreOutage } from "#store/outage.ts";
import type { Store } from "#store/store.ts";
import { openTestCollector } from "../support/collector.ts";

let failures = 0;

function wrapStore(store: Store): Store {
  return Object.assign(Object.create(store) as Store, {
    stream(...[query, options]: Parameters<Store["stream"]>) {
      if (!query.sql.includes(".joins") || failures === 3) return store.stream(query, options);
      failures++;
      throw new StoreOutage("engine_down", "not yet");
    },
  });
}

const collector = await openTestCollector(process.argv[2] as string, () => undefined, { wrapStore });
await collector.close(5000);
console.log(`opened after ${failures} failures`);
