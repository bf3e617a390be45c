// The aggregation by the store's SQL, held against the aggregation in memory and against the reference results, over
// the real engine.

import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type StateRow, stateTables } from "#model/state-tables.ts";
import type { FactTable, Rows } from "#model/tables.ts";
import { aggregateRun, toCompletenessFacts } from "#query/semantiva/aggregate.ts";
import { judgeRun } from "#query/semantiva/completeness.ts";
import { toGraph } from "#query/semantiva/graph.ts";
import { encodeBlock } from "#store/native/encode-block.ts";
import { encodeObjects } from "#store/native/encode-objects.ts";
import { readAttempts, readLaunch, readLaunches } from "#store/reader/launches.ts";
import { readMembers } from "#store/reader/members.ts";
import { readClocks, readCompleteness, readLifecycle, readNodes, readPayloads } from "#store/reader/pipelines.ts";
import type { Store } from "#store/store.ts";
import { storesUnderTest, suiteStore } from "../support/store-under-test.ts";
import { createRandom, type Fed, type FeedOptions, feed, fixtures, readLines, shuffle, traceFiles } from "./feed.ts";

const samples = ["plain_file", "error_midway", "edge_values", "rs_combinatorial_file", "rs_by_position_dir"];
const launchId = "0682b1b684444aeca5dd938c74a0cfb8";

let blocks = 0;

const byCount = (a: { readonly count: number }, b: typeof a): number => a.count - b.count;

async function insert<T extends FactTable>(store: Store, table: T, rows: readonly Rows<T>[]): Promise<void> {
  await store.insert(table, encodeBlock(table, rows), { token: `block-${++blocks}` });
}

/** Everything that was fed, as the writer would store it; `copies` shows rows that are not merged yet. */
async function store(target: Store, fed: Fed, copies = 1): Promise<void> {
  for (let copy = 0; copy < copies; copy++) {
    for (const table of ["lifecycle", "nodes", "events"] as const) {
      const rows = fed.applied.flatMap(({ parts }) =>
        parts.flatMap((part) => (part.table === table ? [part.rows] : [])),
      );
      if (rows.length > 0) await insert(target, table, rows as unknown as Rows<typeof table>[]);
    }
    const groups = fed.applied.flatMap(({ state }) =>
      state.flatMap((change) => (change.table === "groups" ? [change.row] : [])),
    );
    await storeGroups(target, groups);
  }
}

async function storeGroups(target: Store, groups: readonly StateRow<"groups">[]): Promise<void> {
  if (groups.length === 0) return;
  await target.insert("groups", encodeObjects(stateTables.groups, groups), { token: `groups-${++blocks}` });
}

describe.each(storesUnderTest)("pipelines in $name", ({ openMigrated }) => {
  const target = suiteStore(openMigrated);
  let count = 0;

  /** Stores lines in a workspace of their own. */
  async function put(
    chunks: readonly string[],
    options: FeedOptions = {},
    copies = 1,
  ): Promise<{ workspace: string; fed: Fed }> {
    const workspace = `w${++count}`;
    const fed = feed(chunks, { workspace, ...options });
    await store(target, fed, copies);
    return { workspace, fed };
  }

  async function judgeAll(workspace: string) {
    const facts = await readCompleteness(target, workspace);
    return Object.fromEntries(facts.map((fact) => [fact.run_id, judgeRun(fact)]));
  }

  it.each(samples)("are judged as the reference judges %s, shuffled and stored twice [ST-18]", async (sample) => {
    const paths = traceFiles(sample);
    const expectedPath = paths.length === 1 ? `${paths[0]}.expected.json` : `${sample}/expected_all.json`;
    const expected = JSON.parse(readFileSync(`${fixtures}/${expectedPath}`, "utf8"));
    const lines = shuffle(
      paths.flatMap((path) => readLines(path)),
      createRandom(7),
    );
    const { workspace } = await put(lines, {}, 2);
    const runs = Object.fromEntries(expected.runs.map((run: { run_id: string }) => [run.run_id, run]));
    expect(await judgeAll(workspace)).toEqual(runs);
    const launches = await readLaunches(target, { workspace, limit: 10, after: null });
    expect(launches).toHaveLength(expected.launches.length);
    for (const launch of expected.launches) {
      const { summary, run_space_launch_id } = launch;
      expect(launches[0]).toMatchObject({
        launch_id: run_space_launch_id,
        attempt: launch.run_space_attempt,
        has_start: true,
        has_end: true,
        planned_runs: summary.planned_run_count,
        runs: [{ has_end: true, count: summary.runs_total, failed_nodes: 0, outcome: "ok" }],
      });
    }
  });

  it("are judged as in memory for random parts of everything at once [ST-18]", async () => {
    const everything = samples.flatMap((sample) => traceFiles(sample).flatMap((path) => readLines(path)));
    for (let seed = 1; seed <= 12; seed++) {
      const random = createRandom(seed);
      const keep = 0.2 + random() * 0.7;
      const some = everything
        .filter(() => random() < keep)
        .map((line) => (random() < 0.1 ? line.replace(/"timestamp": "2026/, '"timestamp": "2031') : line))
        .map((line) => (random() < 0.1 ? line.replace(/"status": "succeeded"/, '"status": "error"') : line))
        .map((line) => (random() < 0.1 ? line.replace(/"node_id": "\w/, '"node_id": "z') : line));
      const { workspace, fed } = await put(shuffle(some, random));
      const ids = new Set([...fed.lifecycle, ...fed.nodes].map(({ run_id }) => run_id).filter((id) => id !== ""));
      const inMemory = Array.from(ids, (id) => {
        const run = aggregateRun(
          id,
          fed.lifecycle.filter(({ run_id }) => run_id === id),
          fed.nodes.filter(({ run_id }) => run_id === id),
        );
        return [id, judgeRun(toCompletenessFacts(run) as NonNullable<ReturnType<typeof toCompletenessFacts>>)];
      });
      expect(await judgeAll(workspace)).toEqual(Object.fromEntries(inMemory));
    }
  });

  it("come back as the rows they were, by run and by launch", async () => {
    const { workspace, fed } = await put(readLines("rs_combinatorial_file/run_space_demo.trace.jsonl"));
    const key = `${workspace}/s/run-3fd25422cb434e74b7662e7f06038793`;
    const mine = <R extends { group_key: string }>(rows: R[]) => rows.filter(({ group_key }) => group_key === key);
    expect(await readLifecycle(target, [key])).toMatchObject(mine(fed.lifecycle).map(({ expected }) => ({ expected })));
    const lifecycle = await readLifecycle(target, [key]);
    const nodes = await readNodes(target, [key]);
    expect(nodes).toMatchObject(
      mine(fed.nodes).map(({ run_id: _, ...row }) => ({ event_id: row.event_id, upstream: row.upstream })),
    );
    const stored = aggregateRun("r", lifecycle, nodes);
    const inMemory = aggregateRun("r", mine(fed.lifecycle), mine(fed.nodes));
    const ids = [stored.start?.event_id ?? "", ...Array.from(stored.nodes.values(), ({ last }) => last.event_id)];
    const payloads = await readPayloads(target, [key], ids);
    const graph = toGraph(stored, payloads.get(ids[0] as string) ?? "", ({ last }) => payloads.get(last.event_id));
    expect(graph).toEqual(
      toGraph(inMemory, fed.payloads.get(ids[0] as string) ?? "", ({ last }) => fed.payloads.get(last.event_id)),
    );
    expect(graph.nodes).toHaveLength(6);
  });

  it("show a launch's runs by index, not by name, with context and outcome, a failed node among them (S9) [ST-12, ST-13]", async () => {
    const lines = readLines("rs_combinatorial_file/run_space_demo.trace.jsonl");
    const failing = lines
      .map((line) => (line.includes("run-3fd254") ? line.replace('"status": "succeeded"', '"status": "error"') : line))
      .filter((line) => !(line.includes("run-9e1ee5") && line.includes("pipeline_end")))
      .map((line) => (line.includes("run-a25ad8") ? line.replace('{"status": "ok"}', '{"status": "error"}') : line));
    const { workspace } = await put(failing);
    const members = await readMembers(target, `${workspace}/l/${launchId}/1`);
    expect(members.map(({ run_index }) => run_index)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(members.slice(0, 4)).toMatchObject([
      { run_id: /^run-3fd254/, failed_nodes: 6, has_end: true, outcome: "ok" },
      { run_id: /^run-9e1ee5/, failed_nodes: 0, has_end: false, outcome: "" },
      { run_id: /^run-a25ad8/, failed_nodes: 0, has_end: true, outcome: "error" },
      { failed_nodes: 0, has_end: true, outcome: "ok", context: expect.stringContaining('"addend":1') },
    ]);
    expect(members[0]?.duration_ms).toBeGreaterThan(0);
    expect(members[1]?.duration_ms).toBeNull();
    const launch = await readLaunch(target, `${workspace}/l/${launchId}/1`);
    expect(launch).toMatchObject({ head: { indexes: 8, outcome: "" }, members });
    const [head] = await readLaunches(target, { workspace, limit: 10, after: null });
    expect(head?.runs.reduce((sum, run) => sum + run.count, 0)).toBe(8);
    expect(head?.runs.toSorted(byCount)).toEqual(launch?.head.runs.toSorted(byCount));
  });

  it("page launches from the latest on, and know all attempts of an id", async () => {
    const lines = readLines(
      "rs_by_position_dir/trace/20261115-024959_runspace-1a82dd488ce842d09320f467c8bd98c9.trace.jsonl",
    );
    const attempt = (n: number) =>
      lines.map((line) =>
        line.replace('"run_space_attempt": 1', `"run_space_attempt": ${n}`).replaceAll("T02:", `T0${n}:`),
      );
    const { workspace } = await put([...attempt(1), ...attempt(3), ...attempt(2)]);
    const first = await readLaunches(target, { workspace, limit: 2, after: null });
    expect(first.map((launch) => launch.attempt)).toEqual([3, 2]);
    const { start_ns: startNs, launch_key: launchKey } = first[1] as (typeof first)[number];
    const rest = await readLaunches(target, { workspace, limit: 2, after: { startNs, launchKey } });
    expect(rest.map((launch) => launch.attempt)).toEqual([1]);
    expect(await readAttempts(target, workspace, ["1a82dd488ce842d09320f467c8bd98c9"])).toEqual(
      new Map([["1a82dd488ce842d09320f467c8bd98c9", [1, 2, 3]]]),
    );
  });

  it("are called by the name they were given, and are gone when deleted until they come again", async () => {
    const { workspace, fed } = await put(readLines("plain_file/trace.ser.jsonl"), { runOverride: "job-1" });
    expect(Object.keys(await judgeAll(workspace))).toEqual(["job-1"]);
    const [group] = fed.applied.flatMap(({ state }) =>
      state.flatMap((change) => (change.table === "groups" ? [change.row] : [])),
    );
    await storeGroups(target, [{ ...(group as StateRow<"groups">), protocol: "deleted", deleted_ns: 5n, version: 6n }]);
    expect(await judgeAll(workspace)).toEqual({});
    await store(target, feed(readLines("plain_file/trace.ser.jsonl"), { workspace, receivedNs: 7n }));
    expect(Object.keys(await judgeAll(workspace))).toHaveLength(1);
  });

  it("tell how far their clocks are from their arrival (S3)", async () => {
    const { workspace } = await put(readLines("plain_file/trace.ser.jsonl"), { receivedNs: 1794710900000000000n });
    const key = `${workspace}/s/run-b65cd710c311460eb2fb605cf23c0e25`;
    expect((await readClocks(target, [key])).get(key)).toEqual({
      first_ts_ns: 1794710936995000000n,
      last_ts_ns: 1794710937210000000n,
      first_received_ns: 1794710900000000000n,
      last_received_ns: 1794710900000000000n,
      most_ahead_ns: 37210000000n,
    });
  });
});
