import { expect, it } from "vitest";
import { testApp } from "../../tests/support/app.ts";
import { askStore } from "../../tests/support/ask-store.ts";
import { toFrame } from "../../tests/support/frames.ts";
import { deleteGroups } from "./delete-groups.ts";
import type { Store } from "./store.ts";

it("removes what hides a group last, so that nobody sees it again while it goes", async () => {
  const app = await testApp();
  await app.post("/v1/xtrack?wait=1", toFrame({ type: "run_start", seq: 1, ts: 1, payload: { run_id: "gone" } }));
  const { store } = app.app.collector;
  const groups = `${store.database}.groups`;
  // As a deletion hides it: by a row that lies apart from the one before.
  await store.ddl(
    `INSERT INTO ${groups} SELECT * REPLACE (1 AS deleted_ns, version + 1 AS version) FROM ${groups} FINAL`,
  );
  const ask = () =>
    askStore<{ key: string; hides: number }>(store, {
      sql: `SELECT group_key AS key, deleted_ns > 0 AS hides FROM ${groups} ORDER BY version`,
    });
  const before = await ask();
  const seen: number[][] = [];
  const watched: Store = Object.assign(Object.create(store) as Store, {
    async ddl(sql: string) {
      if (sql.startsWith(`DELETE FROM ${groups} `)) seen.push((await ask()).map(({ hides }) => hides));
      await store.ddl(sql);
    },
  });
  await deleteGroups(watched, [before[0]?.key ?? ""]);
  expect(await ask()).toEqual([]);
  expect([seen.length, seen.at(-1)]).toEqual([2, [1]]);
});
