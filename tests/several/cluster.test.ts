// The cluster dialect, read by one engine configured as two shards: both are itself, so a question over Distributed
// tables is planned, sent and merged as in a real cluster. It has no replication, so its tables stay empty and `ON CLUSTER`
// is left out of the statements: every answer has to be that of an ordinary engine with empty tables.

import { mkdirSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Kept } from "#query/kept.ts";
import { findGroups, findRun } from "#query/runs/find-run.ts";
import { KeptPoints, pointReads } from "#query/series/kept-points.ts";
import { wholeSeries } from "#query/series/request.ts";
import { readSeries } from "#query/series/series.ts";
import { createStore } from "#store/client.ts";
import { deletionTarget } from "#store/delete-groups.ts";
import { startEmbedded } from "#store/embedded.ts";
import type { EngineSupervisor } from "#store/engine/supervisor.ts";
import { readMetricCells, readMetricCounts, readParamCells } from "#store/reader/cells.ts";
import { exportTableQuery } from "#store/reader/export-tables.ts";
import { readLaunch, readLaunches } from "#store/reader/launches.ts";
import { readMetrics } from "#store/reader/metrics.ts";
import { readClocks, readCompleteness, readLifecycle } from "#store/reader/pipelines.ts";
import * as records from "#store/reader/records.ts";
import { readCounts, readFields, readSessionText } from "#store/reader/run-details.ts";
import { readRunFacts } from "#store/reader/run-facts.ts";
import { readSeqRanges, readWorkerStarts } from "#store/reader/sequences.ts";
import { readSnapshots, readTensors } from "#store/reader/snapshots.ts";
import { readMarksOfSpan, readSpan, readSpanRef } from "#store/reader/span.ts";
import { readSpanSummary } from "#store/reader/span-summary.ts";
import * as timeline from "#store/reader/timeline.ts";
import { readStateEvents } from "#store/reader/xtrack-state.ts";
import { migrate, schemaStatements } from "#store/schema/migrate.ts";
import { viewSelects } from "#store/schema/views.ts";
import { readSharedStore } from "#store/shared-reads.ts";
import type { Store } from "#store/store.ts";
import { askStore } from "../support/ask-store.ts";
import { suiteFolder } from "../support/folder.ts";
import { makeMigratedFolder } from "../support/migrated-folder.ts";
import { openTcpDoor, type TcpDoor } from "../support/tcp-door.ts";

const statements = schemaStatements({ database: "tributary", cluster: "ours", embedded: false });
const shard = "<shard><replica><host>127.0.0.1</host><port>9000</port></replica></shard>";
const clusterConfig = `<clickhouse>
  <tcp_port>9000</tcp_port>
  <zookeeper><implementation>testkeeper</implementation></zookeeper>
  <macros><cluster>ours</cluster><shard>01</shard><replica>r1</replica></macros>
  <remote_servers><ours>${shard}${shard}</ours></remote_servers>
</clickhouse>`;

const dataDir = suiteFolder();
let engine: EngineSupervisor;
let door: TcpDoor;
let plain: Store;
let store: Store;
let singleDir: string;
let single: Store;

beforeAll(async () => {
  mkdirSync(join(dataDir, "engine", "config.d"), { recursive: true });
  writeFileSync(join(dataDir, "engine", "config.d", "cluster.xml"), clusterConfig);
  engine = await startEmbedded({ kind: "embedded", dataDir });
  door = await openTcpDoor(engine.socketPath);
  const address = { kind: "server", url: door.url, user: "default", password: "", database: "tributary" } as const;
  plain = await createStore(address);
  store = readSharedStore(await createStore({ ...address, cluster: "ours" }));
  singleDir = await makeMigratedFolder();
  single = await createStore({ kind: "embedded", dataDir: singleDir });
  await migrate(single);
  for (const statement of statements) await plain.ddl(statement.replaceAll(" ON CLUSTER `ours`", ""));
});
afterAll(async () => {
  await Promise.all([plain?.close(), store?.close(), single?.close()]);
  door?.close();
  await engine?.close();
  await rm(singleDir, { recursive: true, force: true });
});

const groups = ["default/x/a", "default/c/b", "default/s/c", "default/w/d"];
const group = { groupKey: "default/x/a", run: "a", protocol: "xtrack", rank: 0 };
const window = { groups, fromNs: 1n, toNs: 2n };
const page = { groups, limit: 10, after: null, fromNs: null, toNs: null };
const range = { groups, after: 0n, last: 9n };
async function collect<T>(chunks: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return all;
}

const everything = { workspace: "default" };
const some = { workspace: "default", groupKeys: groups };
const logs = {
  ...page,
  levels: [],
  text: "x",
  workers: [],
  stream: "",
  descending: false,
  chars: null,
};

/** One question of each kind that the routes have. */
const questions: Readonly<Record<string, (store: Store) => Promise<unknown>>> = {
  "a run": (store) => findRun({ store } as never, "default", "a"),
  "groups of ids": (store) => findGroups({ store } as never, "default", ["a"]),
  "all runs": (store) => readRunFacts(store, everything),
  "some runs": (store) => readRunFacts(store, some),
  params: (store) => readParamCells(store, everything, "lr"),
  "metrics by key": (store) => readMetricCells(store, everything, "loss", "last"),
  "metrics of groups": (store) => readMetricCells(store, some, "loss", "max"),
  "counts of points": (store) => readMetricCounts(store, some, ["loss"]),
  fields: (store) => readFields(store, "default", "lo"),
  session: (store) => readSessionText(store, groups),
  counts: (store) => readCounts(store, groups),
  metrics: (store) => readMetrics(store, [group]),
  logs: (store) => records.readLogs(store, logs),
  artifacts: (store) => records.readArtifacts(store, page),
  checkpoints: (store) => records.readCheckpoints(store, page),
  faults: (store) => records.readFaults(store, { ...page, workspace: "default", codes: [], protocol: "" }),
  "span summary": (store) => readSpanSummary(store, window, true),
  tensors: (store) => readTensors(store, window, null),
  "tensor rows": (store) => readSnapshots(store, window, "w", 10),
  span: (store) => readSpan(store, groups, "s"),
  "span refs": (store) => readSpanRef(store, groups, "s"),
  marks: (store) => readMarksOfSpan(store, groups, "s"),
  "timeline parts": (store) => timeline.readTimelineParts(store, groups),
  "timeline state": (store) => timeline.readTimelineState(store, groups, { spans: 0n, nodes: 0n, marks: 0n }),
  timeline: (store) => collect(timeline.readSpanBlocks(store, "spans", range)),
  "timeline marks": (store) => collect(timeline.readMarkBlocks(store, range)),
  sequences: (store) => Promise.all([readSeqRanges(store, groups), readWorkerStarts(store, groups)]),
  states: (store) => readStateEvents(store, groups),
  completeness: (store) => readCompleteness(store, everything.workspace),
  lifecycle: (store) => readLifecycle(store, groups),
  launches: (store) => readLaunches(store, { workspace: "default", limit: 10, after: null }),
  launch: (store) => readLaunch(store, "default/l/a/1"),
  clocks: (store) => readClocks(store, groups),
};

describe("a cluster of two shards", () => {
  test("leaves rows out where they lie", async () => {
    const onlyRows = { spans: "(toString(group_key), span_id) NOT IN (('default/c/b', 's'))" };
    const sql = "SELECT count() AS n FROM tributary.spans WHERE group_key IN {groups:Array(String)}";
    expect(await askStore(store, { sql, params: { groups } }, { onlyRows })).toEqual([{ n: "0" }]);
  });

  test.each(Object.entries(questions))("answers %s as one engine does", async (_name, ask) => {
    expect(await ask(store)).toEqual(await ask(single));
  });

  test("answers a series as one engine does", async () => {
    const request = { ...wholeSeries, groups: [group], keys: ["loss"], axis: "step", buckets: 10 } as const;
    const answer = (from: Store) =>
      collect(readSeries({ points: new KeptPoints(pointReads(from), new Kept()) }, { ...request, byWorker: true }));
    expect(await answer(store)).toEqual(await answer(single));
  });

  test.each(Object.keys(viewSelects("tributary")).filter((name) => !name.endsWith("_of")))(
    "answers a person's SQL over %s",
    async (name) => {
      expect(await askStore(store, { sql: `SELECT * FROM tributary_sql.${name} LIMIT 1` })).toEqual([]);
    },
  );

  test.each(["runs", "spans", "metrics", "faults"])("exports %s as one engine does", async (kind) => {
    const exported = async (from: Store) => {
      const { chunks } = await from.answer(exportTableQuery("tributary", kind, { workspace: "default", runs: ["a"] }));
      return Buffer.concat(await collect(chunks)).toString();
    };
    expect([await exported(store), await exported(single)]).toEqual(["", ""]);
  });

  test("needs the setting that the client sends: the planner refuses two sharded tables in one question without it", async () => {
    const sql = `SELECT count() AS n FROM tributary.spans WHERE span_id IN (SELECT span_id FROM tributary.marks)`;
    await expect(askStore(plain, { sql })).rejects.toThrow(/Double-distributed/);
    expect(await askStore(store, { sql })).toEqual([{ n: "0" }]);
  });
});

describe("the statements of a cluster", () => {
  test("replicate every table, shard facts and summaries by group, and keep small tables whole", () => {
    const tables = statements.filter((sql) => sql.startsWith("CREATE TABLE"));
    expect(tables.every((sql) => sql.includes("ON CLUSTER `ours`"))).toBe(true);
    const stored = tables.filter((sql) => !sql.includes("ENGINE = Distributed"));
    expect(
      stored.every((sql) => /ENGINE = Replicated(Replacing|Aggregating)MergeTree\('\/clickhouse\/tables\//.test(sql)),
    ).toBe(true);
    expect(stored.every((sql) => sql.includes("replicated_deduplication_window_seconds = 90000"))).toBe(true);
    const spread = tables.filter((sql) => sql.includes("ENGINE = Distributed"));
    expect(spread.every((sql) => /_local, sipHash64\(group_key\)\)/.test(sql))).toBe(true);
    const whole = stored.filter((sql) => !/\.\w+_local /.test(sql));
    expect(whole.every((sql) => sql.includes("/all/") && sql.includes("'{shard}-{replica}'"))).toBe(true);
    expect(whole.map((sql) => /tributary\.(\w+)/.exec(sql)?.[1])).toContain("writers");
  });

  test("delete facts on every shard, and small tables where they are whole", () => {
    const there = { database: "tributary", cluster: "ours" };
    expect(deletionTarget(there, "spans")).toBe("tributary.spans_local ON CLUSTER `ours`");
    expect(deletionTarget(there, "metric_summary")).toBe("tributary.metric_summary_local ON CLUSTER `ours`");
    expect(deletionTarget(there, "groups")).toBe("tributary.groups");
    expect(deletionTarget({ database: "tributary", cluster: null }, "spans")).toBe("tributary.spans");
  });
});
