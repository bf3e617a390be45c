import { describe, expect, it } from "vitest";
import { askStore } from "../../tests/support/ask-store.ts";
import { storesUnderTest, suiteStore } from "../../tests/support/store-under-test.ts";
import { removeCopies } from "./remove-copies.ts";
import type { Store } from "./store.ts";

describe.each(storesUnderTest)("copies under several keys, on $name", ({ openMigrated }) => {
  const store = suiteStore(openMigrated);

  /** A mark with its point, as a collector stores them. */
  const insert = async (group_key: string, mark_id: string, collector: string, jpos: number): Promise<void> => {
    for (const table of ["marks", "metrics"])
      await store.ddl(`INSERT INTO ${store.database}.${table} (group_key, mark_id, collector, jpos)
        VALUES ('${group_key}', '${mark_id}', '${collector}', ${jpos})`);
  };
  const placesOf = async (table: string, groups: readonly string[]): Promise<string[]> => {
    const rows = await askStore<{ place: string }>(store, {
      sql: `SELECT concat(toString(group_key), ' ', toString(mark_id), ' ', toString(collector), ' ', toString(jpos)) AS place
        FROM ${store.database}.${table} WHERE group_key IN {groups:Array(String)} ORDER BY place`,
      params: { groups },
    });
    return rows.map(({ place }) => place);
  };

  it("stay under one of them, and what is under one key only is left", async () => {
    const groups = ["g/c/1", "g/c/2", "g/c/3"];
    for (const [at, group] of groups.entries()) await insert(group, "twice", `c${at}`, 7);
    await insert("g/c/2", "once", "c1", 8);
    expect(await removeCopies(store, groups)).toBe(1);
    for (const table of ["marks", "metrics"])
      expect(await placesOf(table, groups)).toEqual(["g/c/1 twice c0 7", "g/c/2 once c1 8"]);
    expect(await removeCopies(store, groups)).toBe(0);
  });

  it("go by their places: a row that was accepted after they were looked for stays", async () => {
    const groups = ["h/c/1", "h/c/2"];
    await insert("h/c/1", "again", "c0", 3);
    await insert("h/c/2", "again", "c1", 4);
    // The run is deleted and sent again between the look and the removal.
    let isFirst = true;
    const interrupted: Store = Object.assign(Object.create(store) as Store, {
      async ddl(sql: string): Promise<void> {
        if (isFirst) {
          isFirst = false;
          for (const table of ["marks", "metrics"])
            await store.ddl(`DELETE FROM ${store.database}.${table} WHERE startsWith(group_key, 'h/')`);
          await insert("h/c/2", "again", "c1", 9);
        }
        await store.ddl(sql);
      },
    });
    await removeCopies(interrupted, groups);
    for (const table of ["marks", "metrics"]) expect(await placesOf(table, groups)).toEqual(["h/c/2 again c1 9"]);
  });
});
