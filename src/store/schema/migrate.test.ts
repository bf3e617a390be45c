import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { copyMetricsByKey } from "#store/metrics-by-key.ts";
import { stepOr, tieOf } from "#store/point-order.ts";
import { askStore } from "../../../tests/support/ask-store.ts";
import { blockOf } from "../../../tests/support/fact-rows.ts";
import { storesUnderTest, suiteStore } from "../../../tests/support/store-under-test.ts";
import { migrate, OtherSchema } from "./migrate.ts";

const clusterProgram = fileURLToPath(new URL("../../../tests/children/cluster-schema.ts", import.meta.url));

describe.each(storesUnderTest)("the schema on $name", ({ name, open }) => {
  const store = suiteStore(open);
  beforeAll(async () => {
    await migrate(store);
  });

  const insert = async (
    table: Parameters<typeof blockOf>[0],
    rows: Parameters<typeof blockOf>[1],
    token = String(Math.random()),
  ) => store.insert(table, blockOf(table, rows), { token });

  it("is made once: a second start changes nothing", async () => {
    const steps = async () =>
      askStore(store, { sql: `SELECT * FROM ${store.database}.migrations ORDER BY id, applied_ns` });
    const before = await steps();
    await migrate(store);
    expect(await steps()).toEqual(before);
  });

  it("gets a column that a newer model has", async () => {
    await store.ddl(`ALTER TABLE ${store.database}.params DROP COLUMN nested_key`);
    await migrate(store);
    const [row] = await askStore(store, {
      sql: "SELECT type FROM system.columns WHERE database = {db:String} AND table = 'params' AND name = 'nested_key'",
      params: { db: store.database },
    });
    expect(row).toEqual({ type: "String" });
  });

  it("keeps the params by name as they come", async () => {
    const param = { group_key: "d/x/params", name: "lr", worker: "w", key: "lr", ts_ns: 5n };
    await insert("params", [{ ...param, seq: 1n, value: "0.1", value_num: 0.1 }]);
    await insert("params", [{ ...param, seq: 2n, value: '"big"', value_num: null }]);
    const rows = await askStore(store, {
      sql: `SELECT group_key, name, worker, seq, value, value_num FROM ${store.database}.param_by_key
        WHERE group_key = 'd/x/params' ORDER BY seq`,
    });
    expect(rows).toEqual([
      { group_key: "d/x/params", name: "lr", worker: "w", seq: "1", value: "0.1", value_num: 0.1 },
      { group_key: "d/x/params", name: "lr", worker: "w", seq: "2", value: '"big"', value_num: null },
    ]);
  });

  it.skipIf(name !== "the embedded engine")("drops the sources of merges soon, in an older database too", async () => {
    const lifetimes = async () =>
      askStore(store, {
        sql: `SELECT DISTINCT extract(engine_full, 'old_parts_lifetime = (\\d+)') AS seconds,
          extract(engine_full, ' cleanup_delay_period = (\\d+)') AS look FROM system.tables
          WHERE database = {db:String} AND engine LIKE '%MergeTree' ORDER BY seconds`,
        params: { db: store.database },
      });
    const wanted = [
      { seconds: "1", look: "2" },
      { seconds: "120", look: "2" },
    ];
    expect(await lifetimes()).toEqual(wanted);
    for (const table of ["leases", "spans", "logs", "groups", "metric_by_key"])
      await store.ddl(
        `ALTER TABLE ${store.database}.${table} MODIFY SETTING old_parts_lifetime = 480, cleanup_delay_period = 30, max_cleanup_delay_period = 300`,
      );
    await store.ddl(`DELETE FROM ${store.database}.migrations WHERE id = 15`);
    await migrate(store);
    expect(await lifetimes()).toEqual(wanted);
    await store.ddl(`ALTER TABLE ${store.database}.logs MODIFY SETTING old_parts_lifetime = 1`);
    await store.ddl(`DELETE FROM ${store.database}.migrations WHERE id = 20`);
    await migrate(store);
    expect(await lifetimes()).toEqual(wanted);
  });

  it.skipIf(name !== "the embedded engine")("writes trace lines into few files, in an older database too", async () => {
    const bytes = async () =>
      askStore(store, {
        sql: `SELECT name, extract(engine_full, 'min_bytes_for_wide_part = (\\d+)') AS bytes FROM system.tables
          WHERE database = {db:String} AND name IN ('events', 'nodes') ORDER BY name`,
        params: { db: store.database },
      });
    const wanted = ["events", "nodes"].map((table) => ({ name: table, bytes: String(64 * 1024 * 1024) }));
    expect(await bytes()).toEqual(wanted);
    for (const table of ["events", "nodes"])
      await store.ddl(`ALTER TABLE ${store.database}.${table} RESET SETTING min_bytes_for_wide_part`);
    await store.ddl(`DELETE FROM ${store.database}.migrations WHERE id = 16`);
    await migrate(store);
    expect(await bytes()).toEqual(wanted);
  });

  it("keeps metrics by key as their summary has them, in an older database too", async () => {
    const { database } = store;
    const view = `${database}.metric_by_key_of_metric_summary`;
    const select = `SELECT s.* FROM ${database}.metric_summary AS s WHERE key = 'none'`;
    await store.ddl(`DROP VIEW IF EXISTS ${view}`);
    await store.ddl(`CREATE MATERIALIZED VIEW ${view} TO ${database}.metric_by_key AS ${select}`);
    await store.ddl(`DELETE FROM ${database}.migrations WHERE id IN (17, 18)`);
    await migrate(store);
    const metric = { group_key: "d/x/by-key", key: "loss", worker: "w", source: "xtrack" };
    await insert("metrics", [
      { ...metric, step: 2n, ts_ns: 20n, value: 0.5 },
      { ...metric, step: 1n, ts_ns: 10n, value: 0.75 },
    ]);
    await insert("metrics", [{ ...metric, step: 3n, ts_ns: 30n, value: 0.25 }]);
    const of = (table: string) =>
      askStore(store, {
        sql: `SELECT argMinMerge(first).1 AS first, argMaxMerge(last).1 AS last, min(min_value) AS least, max(max_step) AS step
          FROM ${database}.${table} WHERE group_key = 'd/x/by-key'`,
      });
    if (store.kind === "embedded") {
      expect(await of("metric_by_key")).toMatchObject([{ least: null }]);
      await copyMetricsByKey(store);
    }
    expect(await of("metric_by_key")).toEqual([{ first: 0.75, last: 0.25, least: 0.25, step: "3" }]);
    expect(await of("metric_by_key")).toEqual(await of("metric_summary"));
  });

  it("keeps one copy of a row that came twice in different blocks, once merged", async () => {
    const row = { group_key: "d/x/twice", span_id: "s", start_ns: 5n, received_ns: 1n };
    await insert("spans", [row]);
    await insert("spans", [{ ...row, received_ns: 2n }]);
    await store.ddl(`OPTIMIZE TABLE ${store.database}.spans FINAL`);
    const sql = `SELECT count() AS n FROM ${store.database}.spans WHERE group_key = 'd/x/twice'`;
    expect(await askStore(store, { sql })).toEqual([{ n: "1" }]);
  });

  it("summarises a series: last by step, time and number, extremes over finite values only", async () => {
    const point = { group_key: "d/x/sum", key: "loss", worker: "w", phase: "train", received_ns: 9n };
    const rows = [
      { ...point, step: 2n, ts_ns: 50n, seq: 3n, value: 0.5 },
      { ...point, step: 1n, ts_ns: 40n, seq: 2n, value: Number.NaN },
      { ...point, step: 3n, ts_ns: 30n, seq: 1n, value: Number.POSITIVE_INFINITY },
      { ...point, step: null, ts_ns: 99n, seq: 9n, value: 0.25 },
    ];
    await insert("metrics", rows, "sum-1");
    // A plan that is sent again after a crash reaches the summary again too.
    await insert("metrics", rows, "sum-1");
    await insert(
      "metrics",
      [
        { ...point, step: 3n, ts_ns: 31n, seq: 4n, value: 7 },
        { ...point, step: 0n, ts_ns: 1n, value: -1 },
      ],
      "sum-2",
    );
    if (store.kind === "embedded") await copyMetricsByKey(store);
    for (const table of ["metric_summary", "metric_by_key"]) {
      const [row] = await askStore(store, {
        sql: `SELECT argMaxMerge(last) AS last, argMinMerge(first) AS first, min(min_value) AS least, max(max_value) AS most,
            max(nonfinite) AS nonfinite, min(min_step) AS from, max(max_step) AS to, min(min_ns) AS began, max(max_ns) AS ended
          FROM ${store.database}.${table} WHERE group_key = 'd/x/sum' AND key = 'loss' GROUP BY worker, phase`,
      });
      expect(row).toEqual({
        last: [7, "", "3", null, "31"],
        first: [0.25, "", null, null, "99"],
        least: -1,
        most: 7,
        nonfinite: 1,
        from: "0",
        to: "3",
        began: "1",
        ended: "99",
      });
    }
  });

  it("finds the first and the last point of every series as comparing step, time, tie and entry one by one does", async () => {
    const limits = [-(2n ** 63n) + 1n, -1n, 0n, 1n, 2n ** 63n - 1n];
    const pick = (n: number, from: number): bigint => limits[Math.floor(n / 5 ** from) % 5] as bigint;
    const rows = Array.from({ length: 1250 }, (_, i) => ({
      group_key: "d/x/order",
      key: `k${i % 7}`,
      step: i % 11 === 0 ? null : pick(i, 0),
      epoch: i % 3 === 0 ? null : BigInt(i),
      ts_ns: pick(i, 1),
      seq: pick(i, 2),
      entry: Number(BigInt.asIntN(32, pick(i, 3) % 2n ** 31n)),
      value: i % 13 === 0 ? null : i,
      value_text: i % 5 === 0 ? "odd" : "",
      // Rows of one place would be merged into one, sooner or later.
      worker: `w${i}`,
      mark_id: i % 2 === 0 ? "" : String(i),
    }));
    for (const at of [0, 1, 2]) {
      const block = rows.filter((_, i) => i % 3 === at).reverse();
      await insert("metrics", block, `order-${at}`);
    }
    const point = "(value, value_text, step, epoch, ts_ns)";
    const place = `(${stepOr("m.step")}, m.ts_ns, ${tieOf("m")}, m.entry)`;
    const wanted = await askStore(store, {
      sql: `SELECT key, argMin(${point}, ${place}) AS first, argMax(${point}, ${place}) AS last
        FROM ${store.database}.metrics AS m WHERE group_key = 'd/x/order' GROUP BY key ORDER BY key`,
    });
    expect(wanted).toHaveLength(7);
    const kept = await askStore(store, {
      sql: `SELECT key, argMinMerge(first) AS first, argMaxMerge(last) AS last
        FROM ${store.database}.metric_summary WHERE group_key = 'd/x/order' GROUP BY key ORDER BY key`,
    });
    expect(kept).toEqual(wanted);
  });

  it("knows when a group began and was last heard of; a missing time is none", async () => {
    await insert("events", [{ group_key: "d/s/times", protocol: "semantiva", ts_ns: 0n, received_ns: 70n }]);
    await insert("nodes", [{ group_key: "d/s/times", start_ns: 10n, end_ns: 20n, received_ns: 60n }]);
    const [row] = await askStore(store, {
      sql: `SELECT min(min_ns) AS began, max(max_ns) AS ended, max(max_received_ns) AS heard
        FROM ${store.database}.group_times WHERE group_key = 'd/s/times'`,
    });
    expect(row).toEqual({ began: "10", ended: "20", heard: "70" });
  });

  it("finds words in logs through the text index", async () => {
    const rows = Array.from({ length: 20_000 }, (_, i) => ({
      group_key: "d/x/logs",
      ts_ns: BigInt(i),
      msg: `line ${i} quiet`,
    }));
    await insert("logs", [...rows, { group_key: "d/x/logs", ts_ns: 20_001n, msg: "CUDA out of memory" }]);
    const sql = `FROM ${store.database}.logs WHERE hasToken(msg, 'CUDA')`;
    expect(await askStore(store, { sql: `SELECT count() AS n ${sql}` })).toEqual([{ n: "1" }]);
    const plan = await askStore<{ explain: string }>(store, {
      sql: `SELECT explain FROM (EXPLAIN indexes = 1 SELECT ts_ns ${sql})`,
    });
    expect(plan.map((line) => line.explain).join("\n")).toContain("msg_text");
  });

  it("refuses a database that a newer release made", async () => {
    const sql = `INSERT INTO ${store.database}.migrations SELECT 1000, 'later', '', 1`;
    await store.ddl(sql);
    await expect(migrate(store)).rejects.toThrow(OtherSchema);
    await store.ddl(`DELETE FROM ${store.database}.migrations WHERE id = 1000`);
  });

  it("refuses a database from before the first release, and changes nothing in it", async () => {
    await store.ddl(`DELETE FROM ${store.database}.migrations WHERE id >= 12`);
    await store.ddl(`INSERT INTO ${store.database}.migrations SELECT 11, 'earlier', '', 1`);
    await expect(migrate(store)).rejects.toThrow("from before the first release");
    const sql = `SELECT count() AS n FROM ${store.database}.migrations WHERE id >= 12`;
    expect(await askStore(store, { sql })).toEqual([{ n: "0" }]);
  });
});

describe("the cluster dialect", () => {
  it("has statements that an engine with a keeper and a cluster runs", async () => {
    const output = await new Promise<string>((resolve) => {
      execFile(process.execPath, [clusterProgram], (_error, stdout) => resolve(stdout));
    });
    const { tables, plan } = JSON.parse(output) as { tables: string[]; plan: string };
    const engines = tables.map((line) => JSON.parse(line) as { engine: string }).map(({ engine }) => engine);
    expect(engines).toEqual([
      "Distributed",
      "MaterializedView",
      "ReplicatedAggregatingMergeTree",
      "ReplicatedReplacingMergeTree",
    ]);
    expect(plan).toContain("ReadFromRemote");
  });
});
