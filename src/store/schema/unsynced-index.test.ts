// What a loss of power leaves of a part whose text index was not on the disk yet: the engine writes it without a sync.

import { cpSync, globSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { askStore } from "../../../tests/support/ask-store.ts";
import { blockOf } from "../../../tests/support/fact-rows.ts";
import { makeFolder } from "../../../tests/support/folder.ts";
import { eventually } from "../../../tests/support/several.ts";
import { openEmbedded } from "../../../tests/support/store-under-test.ts";
import { migrate } from "./migrate.ts";

const lines = 20;

test("log lines are there after a loss of power, though the text index of their merge is not", async () => {
  const [dataDir, left] = [makeFolder(), makeFolder()];
  const first = await openEmbedded(undefined, dataDir);
  try {
    await migrate(first.store);
    for (let at = 0; at < lines; at++)
      for (const table of ["logs", "spans"] as const)
        await first.store.insert(
          table,
          blockOf(table, [{ group_key: "d/x/a", jpos: BigInt(at), ...rowOf(table, at) }]),
          {
            token: `${table} ${at}`,
          },
        );
    for (const table of ["logs", "spans"])
      await first.store.ddl(`OPTIMIZE TABLE ${first.store.database}.${table} FINAL`);
    const partsOf = (word: string) =>
      globSync(`store/store/*/*/all_*/${word}`, { cwd: dataDir }).map((path) => path.slice(0, path.lastIndexOf("/")));
    // Spans have an index of their ids, and no text index: the sources of their merge go at once.
    await eventually(() => partsOf("skp_idx_span_id_bloom.idx").length <= 3, "the sources of merges do not go", 60_000);
    cpSync(dataDir, left, { recursive: true });
  } finally {
    await first.close();
  }
  // The last number in a part's name says how many merges it took.
  const merged = globSync("store/store/*/*/all_*/skp_idx_msg_text*", { cwd: left }).filter((path) =>
    /all_\d+_\d+_[1-9]/.test(path),
  );
  expect(merged.length).toBeGreaterThan(0);
  for (const path of merged) truncateSync(join(left, path));
  const second = await openEmbedded(undefined, left);
  try {
    const sql = `SELECT count() AS n, uniqExact(seq) AS seqs FROM ${second.store.database}.logs`;
    expect(await askStore(second.store, { sql })).toEqual([{ n: String(lines), seqs: String(lines) }]);
  } finally {
    await second.close();
  }
});

const rowOf = (table: "logs" | "spans", at: number) =>
  table === "logs" ? { seq: BigInt(at), msg: `line ${at}` } : { span_id: `span ${at}` };
