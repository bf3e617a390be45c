import { expect, test } from "vitest";
import type { Query, Store } from "#store/store.ts";
import { openMigrated, suiteStore } from "../../tests/support/store-under-test.ts";
import { replayRun } from "./replay.ts";

const store = suiteStore(openMigrated);

test("a replay that is left early leaves no question to the engine open", async () => {
  await store.ddl(`INSERT INTO ${store.database}.metrics
      (group_key, key, step, ts_ns, value, source, entry, received_ns, jpos, jrow)
    SELECT 'w/x/a', 'loss', toInt64(number), toInt64(number), toFloat64(number), 'xtrack', toInt32(-1),
      toInt64(1), toInt64(number), toUInt32(0) FROM numbers(200000)`);
  let open = 0;
  const counted: Store = Object.assign(Object.create(store) as Store, {
    async *stream(query: Query, options: Parameters<Store["stream"]>[1]) {
      open++;
      try {
        yield* store.stream(query, options);
      } finally {
        open--;
      }
    },
  });
  for await (const { group } of replayRun(counted, { groups: ["w/x/a"], keys: "loss", last: null })) {
    expect(group).toBe("w/x/a");
    expect(open).toBeGreaterThan(0);
    break;
  }
  expect(open).toBe(0);
});
