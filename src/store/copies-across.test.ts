import { describe, expect, it } from "vitest";
import { askStore } from "../../tests/support/ask-store.ts";
import { storesUnderTest, suiteStore } from "../../tests/support/store-under-test.ts";
import { findCopiesAcross } from "./copies-across.ts";
import { removeCopies } from "./remove-copies.ts";
import { quote } from "./sql-quote.ts";

describe.each(storesUnderTest)("reading copies under several keys, on $name", ({ openMigrated }) => {
  const store = suiteStore(openMigrated);

  const keysOf = (groups: readonly string[]) => ({ sql: "{groups:Array(String)}", params: { groups } });
  const idColumns = { spans: "span_id", marks: "mark_id", snapshots: "snapshot_id", metrics: "mark_id" };

  /** A batch with these rows as a collector stores it; its place is told first. */
  const take = async (batch: string, group: string, ids: readonly string[], collector: string): Promise<void> => {
    await store.ddl(`INSERT INTO ${store.database}.batch_places (group_key, batch_id, collector, position, version)
      VALUES ('${group}', '${batch}', '${collector}', 7, 1)`);
    for (const [table, column] of Object.entries(idColumns))
      await store.ddl(`INSERT INTO ${store.database}.${table} (group_key, ${column}, collector, jpos)
        VALUES ${ids.map((id) => `('${group}', ${quote(id)}, '${collector}', 7)`).join(", ")}`);
  };
  /** What answers about these groups have, by table. */
  const shown = async (groups: readonly string[], table: keyof typeof idColumns): Promise<string[]> => {
    const onlyRows = await findCopiesAcross(store, keysOf(groups));
    const rows = await askStore<{ row: string }>(
      store,
      {
        sql: `SELECT concat(toString(group_key), ' ', ${idColumns[table]}) AS row FROM ${store.database}.${table} AS t
          WHERE group_key IN {groups:Array(String)} ORDER BY row`,
        params: { groups },
      },
      { withoutCopies: true, ...(onlyRows === null ? {} : { onlyRows }) },
    );
    return rows.map(({ row }) => row);
  };

  it("leaves all but those with the least key out, of every table", async () => {
    const groups = ["g/c/1", "g/c/2", "g/c/3"];
    for (const [at, group] of groups.entries()) await take("all", group, ["a", "it's b"], `c${at}`);
    await take("one", "g/c/3", ["c"], "c1");
    for (const table of Object.keys(idColumns) as (keyof typeof idColumns)[])
      expect(await shown(groups, table)).toEqual(["g/c/1 a", "g/c/1 it's b", "g/c/3 c"]);
    // Of two that were asked for, one has to be shown.
    expect(await shown(groups.slice(1), "spans")).toEqual(["g/c/2 a", "g/c/2 it's b", "g/c/3 c"]);
  });

  it("never leaves a row out that is there under one key only, whatever else came with it", async () => {
    const groups = ["h/c/1", "h/c/2"];
    await take("part", "h/c/1", ["a"], "c0");
    await take("part", "h/c/2", ["a", "b"], "c1");
    expect(await shown(groups, "spans")).toEqual(["h/c/1 a", "h/c/2 b"]);
    // A collector that has told of its rows and not stored them yet.
    await store.ddl(`INSERT INTO ${store.database}.batch_places (group_key, batch_id, collector, position, version)
      VALUES ('h/c/0', 'part', 'c2', 9, 1)`);
    expect(await shown(["h/c/0", ...groups], "spans")).toEqual(["h/c/1 a", "h/c/2 b"]);
  });

  it("finds nothing where each batch has one key, or its copies are removed", async () => {
    const groups = ["i/c/1", "i/c/2"];
    await take("first", "i/c/1", ["a"], "c0");
    await take("second", "i/c/2", ["b"], "c1");
    expect(await findCopiesAcross(store, keysOf(groups))).toBe(null);
    await take("first", "i/c/2", ["a"], "c2");
    expect(Object.keys((await findCopiesAcross(store, keysOf(groups))) ?? {})).toHaveLength(4);
    await removeCopies(store, groups);
    expect(await findCopiesAcross(store, keysOf(groups))).toBe(null);
    expect(await shown(groups, "metrics")).toEqual(["i/c/1 a", "i/c/2 b"]);
  });

  it("names as many rows as there are", async () => {
    const ids = Array.from({ length: 5000 }, (_, at) => `${at}`.padStart(32, "0"));
    const groups = ["j/c/1", "j/c/2"];
    for (const [at, group] of groups.entries()) await take("long", group, ids, `c${at}`);
    expect(await shown(groups, "spans")).toEqual(ids.map((id) => `j/c/1 ${id}`));
  });
});
