import { beforeAll, describe, expect, it } from "vitest";
import { askStore } from "../../tests/support/ask-store.ts";
import { storesUnderTest, suiteStore } from "../../tests/support/store-under-test.ts";
import { dropDeletedRows } from "./drop-deleted-rows.ts";

describe.each(storesUnderTest)("rows that were deleted, on $name", ({ openMigrated }) => {
  const store = suiteStore(openMigrated);
  beforeAll(async () => {
    for (const table of ["metrics", "logs"])
      await store.ddl(`INSERT INTO ${store.database}.${table} (group_key, ts_ns, seq, collector)
        SELECT concat('g/x/', toString(number % 10)), number, number, 'c' FROM numbers(10000)`);
  });

  /** Of a table, with those that are only marked. */
  const rowsOnDisk = async (table: string): Promise<number> => {
    const sql = `SELECT sum(rows) AS n FROM system.parts WHERE active AND database = {database:String} AND table = {table:String}`;
    const [row] = await askStore<{ n: string }>(store, { sql, params: { database: store.database, table } });
    return Number(row?.n);
  };
  const rowsShown = async (table: string): Promise<number> => {
    const [row] = await askStore<{ n: string }>(store, { sql: `SELECT count() AS n FROM ${store.database}.${table}` });
    return Number(row?.n);
  };

  it("leave the disk where they are half of what their parts hold, and nothing else does", async () => {
    await store.ddl(`DELETE FROM ${store.database}.metrics WHERE group_key IN ('g/x/1', 'g/x/2')`);
    await store.ddl(`DELETE FROM ${store.database}.logs WHERE group_key IN ('g/x/1', 'g/x/2')`);
    expect(await dropDeletedRows(store, 1000)).toEqual([]);
    expect([await rowsOnDisk("metrics"), await rowsShown("metrics")]).toEqual([10_000, 8000]);
    await store.ddl(`DELETE FROM ${store.database}.metrics WHERE group_key > 'g/x/4'`);
    // Of too few rows nobody makes a fuss.
    expect(await dropDeletedRows(store)).toEqual([]);
    expect(await dropDeletedRows(store, 1000)).toEqual(["metrics"]);
    await expect.poll(() => rowsOnDisk("metrics"), { timeout: 30_000 }).toBe(3000);
    expect(await rowsShown("metrics")).toBe(3000);
    expect([await rowsOnDisk("logs"), await rowsShown("logs")]).toEqual([10_000, 8000]);
    expect(await dropDeletedRows(store, 1000)).toEqual([]);
  });
});
