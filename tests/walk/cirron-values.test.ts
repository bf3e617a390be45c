// Every value of every recorded batch, from a real request through the engine and back: what the store holds is made
// into records again and compared with the sample's own JSON, read independently of Tributary's reader.

import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { atOnce } from "#base/turns.ts";
import { formatRecord, type RecordCells } from "#wire/cirron/rebuild.ts";
import { readIndependently, sameNumbers, type Tree } from "#wire/cirron/small-records.testing.ts";
import { suiteApp } from "../support/app.ts";
import { askStore } from "../support/ask-store.ts";

const root = join(import.meta.dirname, "../..");
const files = globSync("{tests/fixtures/cirron,examples/data/h200}/*/.cirron/spool/*.json", { cwd: root });
const walk = suiteApp();

type Table = "spans" | "marks" | "snapshots";

/** The records of the samples by their id, each once. */
function sentRecords(table: Table): Map<string, unknown> {
  const records = new Map<string, unknown>();
  for (const file of files) {
    const batch = readIndependently(readFileSync(join(root, file), "utf8")) as Record<Table, Tree[]>;
    for (const record of batch[table]) records.set(record["id"] as string, sameNumbers(record));
  }
  return records;
}

async function storedRecords(table: Table, kind: "span" | "mark" | "snapshot") {
  const rows = await askStore<Record<string, unknown>>(walk.app.collector.store, {
    sql: `SELECT * FROM tributary.${table} FINAL`,
  });
  const records = rows.map((row) => {
    // In answers a float that is no number is a word.
    const cells =
      "value_float" in row && row["value_float"] !== null ? { ...row, value_float: Number(row["value_float"]) } : row;
    return readIndependently(atOnce(formatRecord(kind, cells as unknown as RecordCells<typeof kind>)).join("")) as Tree;
  });
  return new Map(records.map((record) => [record["id"] as string, sameNumbers(record)]));
}

test("every value of every recorded batch comes back from the store as it was sent [CT-06] [CT-08] [CT-13] [CT-24]", async () => {
  // The newest first and all of them twice: neither order nor repetition matters.
  for (const file of [...files.toReversed(), ...files]) {
    const body = gzipSync(readFileSync(join(root, file)));
    const headers = { "content-type": "application/json", "content-encoding": "gzip" };
    expect(await walk.post("/api/traces", body, headers)).toMatchObject({ status: 202 });
  }
  await walk.app.collector.drained();
  expect(await storedRecords("spans", "span")).toStrictEqual(sentRecords("spans"));
  expect(await storedRecords("marks", "mark")).toStrictEqual(sentRecords("marks"));
  expect(await storedRecords("snapshots", "snapshot")).toStrictEqual(sentRecords("snapshots"));
});
