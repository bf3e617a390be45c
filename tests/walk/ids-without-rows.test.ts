// The ids of Cirron rows are stored before the rows, so that a plan that is lost in between leaves no row that is not known.

import { expect, test } from "vitest";
import { askStore } from "../support/ask-store.ts";
import { toBatchText } from "../support/cirron-batch.ts";
import { cirronInput, createTestCollector, submitted } from "../support/collector.ts";

const tables = ["spans", "marks", "metrics", "groups", "aliases", "cirron_components", "cirron_batches"];

test("a row whose id alone was stored is new when it comes again, and there once", async () => {
  const job = await createTestCollector();
  try {
    const spans = ["a", "b"].map((id, at) => ({ id, parent: at === 0 ? null : "a", name: "step", at }));
    const send = async () => {
      const { accepted } = await submitted(job.collector, cirronInput(Buffer.from(toBatchText("batch", spans))));
      await job.collector.drained();
      return accepted;
    };
    const count = async (table: string) =>
      (await askStore(job.collector.store, { sql: `SELECT 1 FROM tributary.${table}` })).length;
    const accepted = await send();
    for (const table of tables) await job.collector.store.ddl(`TRUNCATE TABLE tributary.${table}`);
    await job.reopen();
    expect([await count("cirron_ids"), await count("spans")]).toEqual([expect.any(Number), 0]);
    expect(await count("cirron_ids")).toBeGreaterThan(1);
    expect(await send()).toBe(accepted);
    expect([await count("spans"), await count("marks"), await count("groups FINAL")]).toEqual([2, 2, 1]);
    expect(await send()).toBe(0);
    await job.reopen();
    expect(await send()).toBe(0);
    expect(await count("spans")).toBe(2);
  } finally {
    await job.remove();
  }
});
