import { describe, expect, test } from "vitest";
import { countStore } from "../../../tests/support/counted-store.ts";
import { storesUnderTest, suiteStore } from "../../../tests/support/store-under-test.ts";
import { StoredParts } from "./stored-parts.ts";

describe.each(storesUnderTest)("what has come to $name since the last look", ({ openMigrated }) => {
  const store = suiteStore(openMigrated);

  const ddl = (sql: string) => store.ddl(sql.replaceAll("@", `${store.database}.`));
  let tsNs = 0;
  const add = (...groups: string[]) =>
    ddl(
      `INSERT INTO @params (group_key, name, ts_ns, received_ns) VALUES ${groups
        .map((group) => `('${group}', 'lr', ${++tsNs}, ${tsNs})`)
        .join(", ")}`,
    );

  test("is told by group, for one workspace, and once", async () => {
    await add("w/x/a", "w/x/b", "v/x/c");
    const parts = new StoredParts(store, "w");
    const changed = async () => [...((await parts.takeChanges())?.groups ?? ["nothing can be told"])].sort();
    expect(await changed()).toEqual([]);
    await add("w/x/b", "v/x/c");
    await add("w/x/d");
    expect(await changed()).toEqual(["w/x/b", "w/x/d"]);
    expect(await changed()).toEqual([]);
    await ddl(`INSERT INTO @run_edits (workspace, run_id, version) VALUES ('w', 'r1', 1), ('v', 'r2', 1)`);
    expect(await parts.takeChanges()).toEqual({ groups: new Set(), runs: new Set(["r1"]) });
  });

  test("is nothing when the engine has merged or rewritten its parts", async () => {
    const parts = new StoredParts(store, "w");
    await parts.takeChanges();
    for (const table of ["group_times", "param_by_key"]) await ddl(`OPTIMIZE TABLE @${table} FINAL`);
    expect(await parts.takeChanges()).toEqual({ groups: new Set(), runs: new Set() });
    await ddl("ALTER TABLE @group_times DELETE WHERE group_key = 'w/x/a' SETTINGS mutations_sync = 2");
    expect(await parts.takeChanges()).toEqual({ groups: new Set(), runs: new Set() });
  });

  test("is among what is told when it was merged with older rows meanwhile", async () => {
    const parts = new StoredParts(store, "w");
    await parts.takeChanges();
    await add("w/x/late");
    for (const table of ["group_times", "param_by_key"]) await ddl(`OPTIMIZE TABLE @${table} FINAL`);
    expect((await parts.takeChanges())?.groups).toContain("w/x/late");
    expect(await parts.takeChanges()).toEqual({ groups: new Set(), runs: new Set() });
  });

  test("is asked of an engine that only this process writes to after a write alone", async () => {
    const { store: counted, questions } = countStore(store);
    const parts = new StoredParts(counted, "w");
    const asked = async () => {
      const before = questions.length;
      await parts.takeChanges();
      return questions.length - before;
    };
    const isOwn = store.kind === "embedded";
    expect([await asked(), await asked()]).toEqual([1, isOwn ? 0 : 1]);
    await add("w/x/more");
    expect([await asked(), await asked()]).toEqual([2, isOwn ? 0 : 1]);
  });
});
