import { describe, expect, it } from "vitest";
import { askStore } from "../../tests/support/ask-store.ts";
import { storesUnderTest, suiteStore } from "../../tests/support/store-under-test.ts";
import { prunePlaces } from "./prune-places.ts";

describe.each(storesUnderTest)("places of batches, on $name", ({ openMigrated }) => {
  const store = suiteStore(openMigrated);

  it("are forgotten after their time, unless a batch lies under two keys", async () => {
    const places = [
      ["g/c/1", "old", 10],
      ["g/c/1", "it's old too", 19],
      ["g/c/1", "young", 20],
      ["g/c/1", "doubled", 10],
      ["g/c/2", "doubled", 30],
    ] as const;
    const rows = places.map(
      ([group, batch, version]) => `('${group}', '${batch.replace("'", "\\'")}', 'c', 1, ${version})`,
    );
    await store.ddl(`INSERT INTO ${store.database}.batch_places (group_key, batch_id, collector, position, version)
      VALUES ${rows.join(", ")}`);
    expect(await prunePlaces(store, 20n)).toBe(2);
    const left = await askStore<{ place: string }>(store, {
      sql: `SELECT concat(group_key, ' ', batch_id) AS place FROM ${store.database}.batch_places ORDER BY place`,
    });
    expect(left.map(({ place }) => place)).toEqual(["g/c/1 doubled", "g/c/1 young", "g/c/2 doubled"]);
    expect(await prunePlaces(store, 20n)).toBe(0);
  });
});
