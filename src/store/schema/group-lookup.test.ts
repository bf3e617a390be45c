import { describe, expect, it } from "vitest";
import { askStore } from "../../../tests/support/ask-store.ts";
import { blockOf } from "../../../tests/support/fact-rows.ts";
import { storesUnderTest, suiteStore } from "../../../tests/support/store-under-test.ts";
import { guestDatabaseOf } from "./views.ts";

describe.each(storesUnderTest)("the run of a row, on $name", ({ openMigrated }) => {
  const store = suiteStore(openMigrated);

  async function put(table: Parameters<typeof blockOf>[0], rows: Parameters<typeof blockOf>[1]): Promise<void> {
    await store.insert(table, blockOf(table, rows), { token: String(Math.random()) });
  }

  const ask = (sql: string): Promise<Record<string, unknown>[]> =>
    askStore(store, { sql: sql.replaceAll("@", `${guestDatabaseOf(store.database)}.`) });

  const explain = async (sql: string): Promise<string> =>
    (await ask(`SELECT explain FROM (EXPLAIN ${sql})`)).map((row) => row["explain"]).join("\n");

  const count = "SELECT count() AS n FROM @metrics";
  const group = { version: 1n, workspace: "lab", protocol: "xtrack", run_id: "run" };
  const point = { group_key: "lab/x/run", key: "loss", value: 1 };

  it("is empty while its group is still on its way to the store", async () => {
    await put("metrics", [{ ...point, ts_ns: 1n, received_ns: 5n }]);
    expect(await ask("SELECT run_id, workspace FROM @metrics")).toEqual([{ run_id: "", workspace: "" }]);
    await put("groups", [{ ...group, group_key: "lab/x/run" }]);
    expect(await ask("SELECT run_id, workspace FROM @metrics")).toEqual([{ run_id: "run", workspace: "lab" }]);
  });

  it("follows the group when that moves to another run", async () => {
    await put("groups", [{ ...group, group_key: "lab/x/run", run_id: "other", version: 2n }]);
    expect(await ask("SELECT run_id FROM @metrics")).toEqual([{ run_id: "other" }]);
  });

  it("costs a count no row while no deletion is under way, and hides what one covers", async () => {
    expect(await explain(count)).not.toContain("ReadFromMergeTree");
    expect(await ask(count)).toEqual([{ n: "1" }]);
    await put("groups", [{ ...group, group_key: "lab/x/run", deleted_ns: 5n, version: 3n }]);
    await put("metrics", [{ ...point, ts_ns: 2n, received_ns: 6n }]);
    expect(await explain(count)).toContain("ReadFromMergeTree");
    expect(await ask("SELECT ts_ns FROM @metrics")).toEqual([{ ts_ns: "2" }]);
  });
});
