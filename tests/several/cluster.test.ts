// The cluster dialect, read by an engine that believes to be a cluster of two shards: both are itself, so a question
// over Distributed tables is planned, sent and merged as in a real one. What it cannot have is replication, so tables are
// empty here and `ON CLUSTER` is left out of the statements.

import { mkdirSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Reads } from "#api/reads.ts";
import { createReads } from "#server/app/reads.ts";
import { createStore } from "#store/client.ts";
import { deletionTarget } from "#store/delete-groups.ts";
import { type EmbeddedEngine, startEmbedded } from "#store/embedded.ts";
import { exportTableQuery } from "#store/reader/export-tables.ts";
import { schemaStatements } from "#store/schema/migrate.ts";
import { viewSelects } from "#store/schema/views.ts";
import { readSharedStore } from "#store/shared-reads.ts";
import type { Store } from "#store/store.ts";
import { openTcpDoor, type TcpDoor } from "../support/several.ts";

const statements = schemaStatements({ database: "tributary", cluster: "ours", embedded: false });
const shard = "<shard><replica><host>127.0.0.1</host><port>9000</port></replica></shard>";
const clusterConfig = `<clickhouse>
  <tcp_port>9000</tcp_port>
  <zookeeper><implementation>testkeeper</implementation></zookeeper>
  <macros><cluster>ours</cluster><shard>01</shard><replica>r1</replica></macros>
  <remote_servers><ours>${shard}${shard}</ours></remote_servers>
</clickhouse>`;

let dataDir: string;
let engine: EmbeddedEngine;
let door: TcpDoor;
let plain: Store;
let store: Store;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "tributary-cluster-"));
  mkdirSync(join(dataDir, "engine", "config.d"), { recursive: true });
  writeFileSync(join(dataDir, "engine", "config.d", "cluster.xml"), clusterConfig);
  engine = await startEmbedded({ kind: "embedded", dataDir });
  door = await openTcpDoor(engine.socketPath);
  const address = { kind: "server", url: door.url, user: "default", password: "", database: "tributary" } as const;
  plain = await createStore(address);
  store = readSharedStore(await createStore({ ...address, cluster: "ours" }));
  for (const statement of statements) await plain.ddl(statement.replaceAll(" ON CLUSTER `ours`", ""));
}, 60_000);
afterAll(async () => {
  await Promise.all([plain?.close(), store?.close()]);
  door?.close();
  await engine?.close();
  await rm(dataDir, { recursive: true, force: true });
});

const groups = ["default/x/a", "default/c/b", "default/s/c", "default/w/d"];
const group = { groupKey: "default/x/a", run: "a", protocol: "xtrack", rank: 0 };
const window = { groups, fromNs: 1n, toNs: 2n };
const page = { groups, limit: 10, after: null, fromNs: null, toNs: null };
const range = { groups, after: 0n, last: 9n };
const drain = async (chunks: AsyncIterable<unknown>): Promise<void> => {
  for await (const _chunk of chunks);
};

/** One question of each kind that the routes have. */
const questions: Readonly<Record<string, (reads: Reads) => Promise<unknown>>> = {
  resolve: (reads) => reads.resolve("default", "a"),
  "groups of ids": (reads) => reads.groupsOfIds("default", ["a"]),
  "all runs": (reads) => reads.runFacts("default", null),
  "some runs": (reads) => reads.runFacts("default", groups),
  params: (reads) => reads.paramCells("default", "lr", null),
  "metrics by key": (reads) => reads.metricCells("default", "loss", "last", null),
  "metrics of groups": (reads) => reads.metricCells("default", "loss", "max", groups),
  "counts of points": (reads) => reads.metricCounts("default", ["loss"], groups),
  fields: (reads) => reads.fields("default", "lo"),
  payloads: (reads) => reads.runPayloads(groups),
  counts: (reads) => reads.counts(groups),
  metrics: (reads) => reads.metrics([group]),
  logs: (reads) =>
    reads.logs({
      ...page,
      levels: [],
      text: "x",
      workers: [],
      stream: "",
      fromStep: null,
      toStep: null,
      descending: false,
    }),
  artifacts: (reads) => reads.artifacts(page),
  checkpoints: (reads) => reads.checkpoints(page),
  faults: (reads) => reads.faults({ ...page, workspace: "default", codes: [], protocol: "" }),
  "span summary": (reads) => reads.spanSummary({ ...window, byRank: true }),
  tensors: (reads) => reads.tensors(window, null),
  "tensor rows": (reads) => reads.tensorRows(window, "w", 10),
  span: (reads) => reads.span(groups, "s"),
  "span refs": (reads) => reads.spanRefs(groups, ["s"]),
  marks: (reads) => reads.marksOfSpan(groups, "s"),
  "timeline parts": (reads) => reads.timeline.parts(groups),
  "timeline state": (reads) => reads.timeline.state(groups, { spans: 0n, nodes: 0n, marks: 0n }),
  timeline: (reads) => drain(reads.timeline.spans("spans", range, new AbortController().signal)),
  "timeline marks": (reads) => drain(reads.timeline.marks(range, new AbortController().signal)),
  sequences: (reads) => reads.records.sequences(groups),
  states: (reads) => reads.records.stateEvents(groups),
  completeness: (reads) => reads.pipelines.completeness({ workspace: "default", groups } as never),
  lifecycle: (reads) => reads.pipelines.lifecycle(groups),
  launches: (reads) => reads.pipelines.launches({ workspace: "default", limit: 10, after: null } as never),
  launch: (reads) => reads.pipelines.launch("default/l/a/1"),
  clocks: (reads) => reads.pipelines.clocks(groups),
};

describe("a cluster of two shards", () => {
  test.each(Object.entries(questions))("answers %s", async (_name, ask) => {
    await ask(createReads(store));
  });

  test("answers a series", async () => {
    const request = {
      groups: [group],
      keys: ["loss"],
      axis: "step",
      buckets: 10,
      byWorker: true,
      byPosition: false,
      from: null,
      to: null,
      fromNs: null,
      toNs: null,
    };
    await drain(createReads(store).series(request as never));
  });

  test.each(Object.keys(viewSelects("tributary")).filter((name) => !name.endsWith("_of")))(
    "answers a person's SQL over %s",
    async (name) => {
      await store.query({ sql: `SELECT * FROM tributary_sql.${name} LIMIT 1` });
    },
  );

  test("exports rows", async () => {
    for (const kind of ["runs", "spans", "metrics", "faults"]) {
      const { chunks } = await store.answer(exportTableQuery("tributary", kind, { workspace: "default", runs: ["a"] }));
      await drain(chunks);
    }
  });

  test("needs the setting that the client sends: the planner refuses two sharded tables in one question without it", async () => {
    const sql = `SELECT count() AS n FROM tributary.spans WHERE span_id IN (SELECT span_id FROM tributary.marks)`;
    await expect(plain.query({ sql })).rejects.toThrow(/Double-distributed/);
    expect(await store.query({ sql })).toEqual([{ n: "0" }]);
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
