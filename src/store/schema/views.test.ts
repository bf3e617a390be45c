import { readFileSync } from "node:fs";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { askStore } from "../../../tests/support/ask-store.ts";
import { blockOf } from "../../../tests/support/fact-rows.ts";
import { storesUnderTest, suiteStore } from "../../../tests/support/store-under-test.ts";
import { cutSql } from "./trace-views.ts";
import { guestDatabaseOf, viewSelects } from "./views.ts";

const session = "5e551011";

/** What a text of more than 256 bytes is cut to. */
function cut(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= 256) return text;
  let end = 256;
  while (end > 0 && ((bytes[end] as number) & 0xc0) === 0x80) end--;
  return bytes.subarray(0, end).toString();
}

describe.each(storesUnderTest)("the views on $name", ({ openMigrated }) => {
  const store = suiteStore(openMigrated);
  let guest: string;

  beforeAll(async () => {
    guest = guestDatabaseOf(store.database);
    const at = { version: 1n, workspace: "lab" };
    const groups = [
      {
        ...at,
        group_key: "lab/c/1",
        protocol: "cirron",
        run_id: "run-1",
        session_id: session,
        root_kind: "session",
        pipeline_id: "pipe",
        model_id: "m",
      },
      { ...at, group_key: "lab/x/run-2", protocol: "xtrack", run_id: "run-2" },
      { ...at, group_key: "lab/x/gone", protocol: "xtrack", run_id: "gone", deleted_ns: 1000n },
      // The newest version of a group counts.
      { ...at, group_key: "lab/c/1", protocol: "cirron", run_id: "old", session_id: "old", version: 0n },
    ];
    await put("groups", groups);
    await put("blobs", [
      { ...at, span_id: "e1", kind: "gradients", object_key: "traces/lab/run-1/e1/gradients.safetensors" },
    ]);
    await put("spans", [
      {
        group_key: "lab/c/1",
        span_id: "e1",
        parent_id: session,
        name: "epoch",
        index: 3n,
        start_ns: 10n,
        end_ns: 20n,
        thread_id: 7n,
        rank: 1,
        attrs: '{"lr":0.1}',
        received_ns: 5n,
      },
      {
        group_key: "lab/c/1",
        span_id: "odd",
        name: "step",
        index: null,
        extra: '{"index":1.5}',
        start_ns: 12n,
        end_ns: 13n,
        received_ns: 5n,
      },
      {
        group_key: "lab/c/1",
        span_id: "far",
        name: "step",
        index: 2n ** 40n,
        start_ns: 14n,
        end_ns: 15n,
        gpu_ns: 9n,
        received_ns: 5n,
      },
    ]);
    const mark = { group_key: "lab/c/1", span_id: "e1", ts_ns: 11n, kind: "point", received_ns: 5n };
    await put("marks", [
      { ...mark, mark_id: "m1", name: "loss", value_type: "float", value_float: 0.5 },
      { ...mark, mark_id: "m2", name: "n", value_type: "int", value_int: 2n ** 60n },
      { ...mark, mark_id: "m3", name: "s", value_type: "string", value_string: `${"a".repeat(255)}é!` },
      { ...mark, mark_id: "m4", name: "b", value_type: "bool", value_bool: 1 },
    ]);
    const shot = { group_key: "lab/c/1", span_id: "e1", shape: "[2,3]", dtype: "float32", ts_ns: 11n, received_ns: 5n };
    await put("snapshots", [
      {
        ...shot,
        snapshot_id: "w",
        tensor_name: "fc.weight",
        mode: "full",
        stats: '{"mean":0}',
        blob_uri: "file:///elsewhere",
      },
      { ...shot, snapshot_id: "g", tensor_name: "fc.weight.grad", mode: "full", blob_uri: "file:///elsewhere" },
      { ...shot, snapshot_id: "p", tensor_name: "fc.bias.grad", mode: "stats", blob_uri: null },
    ]);
    const event = { group_key: "lab/x/run-2", protocol: "xtrack", received_ns: 5n };
    await put("events", [
      {
        ...event,
        type: "run_start",
        worker: "a",
        ts_ns: 100n,
        seq: 1n,
        payload: '{"run_id":{"id":"run-2","exp_id":"exp"},"name":"trial"}',
      },
      { ...event, type: "run_start", worker: "a", ts_ns: 200n, seq: 1n, payload: "{}" },
      {
        ...event,
        type: "artifact",
        worker: "a",
        ts_ns: 110n,
        seq: 4n,
        payload: '{"path":"/m.pt","type":"model","size":9007199254740993}',
      },
      {
        ...event,
        type: "checkpoint",
        worker: "a",
        ts_ns: 120n,
        seq: 5n,
        payload: '{"step":7,"path":"/c.pt","is_best":true}',
      },
    ]);
    await put("metrics", [
      {
        group_key: "lab/x/run-2",
        key: "loss",
        worker: "a",
        phase: "train",
        step: 1n,
        epoch: 0n,
        ts_ns: 101n,
        value: Number.NaN,
        received_ns: 5n,
      },
      { group_key: "lab/x/gone", key: "loss", ts_ns: 1n, value: 1, received_ns: 1000n },
      { group_key: "lab/x/gone", key: "loss", ts_ns: 2n, value: 2, received_ns: 1001n },
    ]);
    const range = { group_key: "lab/x/run-2", worker: "a", received_ns: 5n };
    await put("seq_ranges", [
      { ...range, first_seq: 5n, last_seq: 9n, first_ts_ns: 130n, last_ts_ns: 140n, events: 5 },
      { ...range, first_seq: 1n, last_seq: 2n, first_ts_ns: 100n, last_ts_ns: 101n, events: 2 },
      { ...range, first_seq: 1n, last_seq: 4n, first_ts_ns: 200n, last_ts_ns: 230n, events: 4 },
    ]);
    await put("faults", [{ workspace: "lab", fault_id: "f", code: "json_syntax", raw: "\0x", received_ns: 5n }]);
  });

  async function put(table: Parameters<typeof blockOf>[0], rows: Parameters<typeof blockOf>[1]): Promise<void> {
    await store.insert(table, blockOf(table, rows), { token: `put-${table}` });
  }

  const ask = (sql: string): Promise<Record<string, unknown>[]> =>
    askStore(store, { sql: sql.replaceAll("@", `${guest}.`) });

  async function typesOf(view: string): Promise<Record<string, string>> {
    const rows = await askStore<{ name: string; type: string }>(store, {
      sql: "SELECT name, type FROM system.columns WHERE database = {db:String} AND table = {view:String} ORDER BY position",
      params: { db: guest, view },
    });
    return Object.fromEntries(rows.map(({ name, type }) => [name, type]));
  }

  it("has TraceSpan with exactly the documented columns [CT-32] [CT-33]", async () => {
    expect(Object.entries(await typesOf("TraceSpan"))).toEqual([
      ["id", "String"],
      ["traceId", "String"],
      ["parentSpanId", "Nullable(String)"],
      ["name", "String"],
      ["index", "Nullable(Int32)"],
      ["attrs", "Nullable(String)"],
      ["startNs", "Int64"],
      ["endNs", "Int64"],
      ["cpuNs", "Nullable(Int64)"],
      ["gpuNs", "Nullable(Int64)"],
      ["memoryPeakBytes", "Nullable(Int64)"],
      ["threadId", "Nullable(Int64)"],
      ["rank", "Int32"],
      ["workspaceId", "String"],
      ["pipelineId", "Nullable(String)"],
      ["runId", "String"],
      ["deploymentId", "Nullable(String)"],
      ["modelId", "Nullable(String)"],
    ]);
    const [epoch, odd, far] = await ask("SELECT * FROM @TraceSpan ORDER BY startNs");
    expect(epoch).toEqual({
      id: "e1",
      traceId: session,
      parentSpanId: session,
      name: "epoch",
      index: 3,
      attrs: '{"lr":0.1}',
      startNs: "10",
      endNs: "20",
      cpuNs: null,
      gpuNs: null,
      memoryPeakBytes: null,
      threadId: "7",
      rank: 1,
      workspaceId: "lab",
      pipelineId: "pipe",
      runId: "run-1",
      deploymentId: null,
      modelId: "m",
    });
    expect(odd).toMatchObject({ id: "odd", index: null, parentSpanId: null, attrs: null });
    expect(far).toMatchObject({ id: "far", index: null, gpuNs: "9" });
  });

  it("links every span to its workspace and run, and to pipeline, deployment and model when given [CT-37]", async () => {
    const rows = await ask("SELECT DISTINCT workspaceId, runId, pipelineId, deploymentId, modelId FROM @TraceSpan");
    expect(rows).toEqual([
      { workspaceId: "lab", runId: "run-1", pipelineId: "pipe", deploymentId: null, modelId: "m" },
    ]);
  });

  it("has TraceMark with exactly the documented columns and one value filled [CT-35]", async () => {
    expect(Object.entries(await typesOf("TraceMark"))).toEqual([
      ["id", "String"],
      ["spanId", "String"],
      ["name", "String"],
      ["valueType", "String"],
      ["valueFloat", "Nullable(Float64)"],
      ["valueInt", "Nullable(Int64)"],
      ["valueString", "Nullable(String)"],
      ["valueBool", "Nullable(Bool)"],
      ["attrs", "Nullable(String)"],
      ["tsNs", "Int64"],
      ["kind", "String"],
    ]);
    const rows = await ask(
      "SELECT valueType, valueFloat, valueInt, valueString, valueBool FROM @TraceMark ORDER BY id",
    );
    const none = { valueFloat: null, valueInt: null, valueString: null, valueBool: null };
    expect(rows).toEqual([
      { ...none, valueType: "float", valueFloat: 0.5 },
      { ...none, valueType: "int", valueInt: "1152921504606846976" },
      { ...none, valueType: "string", valueString: "a".repeat(255) },
      { ...none, valueType: "bool", valueBool: true },
    ]);
  });

  it("cuts a text to 256 bytes and never inside a character [CT-35]", async () => {
    const texts: string[] = [];
    fc.assert(
      fc.property(fc.string({ unit: "grapheme-composite", minLength: 60, maxLength: 300 }), (text) => {
        texts.push(text);
      }),
      { numRuns: 300 },
    );
    for (const char of ["é", "€", "𝕏"])
      for (let pad = 250; pad < 258; pad++) texts.push("a".repeat(pad) + char.repeat(3));
    const rows = await askStore<{ cut: string }>(store, {
      sql: `SELECT ${cutSql("text")} AS cut FROM (SELECT arrayJoin({texts:Array(String)}) AS text)`,
      params: { texts },
    });
    expect(rows.map((row) => row.cut)).toEqual(texts.map(cut));
  });

  it("has TraceSnapshot with exactly the documented columns, blobs found by span and kind [CT-36]", async () => {
    expect(Object.entries(await typesOf("TraceSnapshot"))).toEqual([
      ["id", "String"],
      ["spanId", "String"],
      ["tensorName", "String"],
      ["shape", "String"],
      ["dtype", "String"],
      ["mode", "String"],
      ["stats", "Nullable(String)"],
      ["blobUri", "Nullable(String)"],
    ]);
    expect(await ask("SELECT id, stats, blobUri FROM @TraceSnapshot ORDER BY id")).toEqual([
      { id: "g", stats: null, blobUri: "traces/lab/run-1/e1/gradients.safetensors" },
      { id: "p", stats: null, blobUri: null },
      { id: "w", stats: '{"mean":0}', blobUri: "file:///elsewhere" },
    ]);
  });

  it("has the tables and columns that the page on SQL names", async () => {
    const page = readFileSync(new URL("../../../docs/sql.md", import.meta.url), "utf8");
    const rows = Array.from(page.matchAll(/^\| `(\w+)` \| .* \| ([^|]+) \|$/gm));
    const shown = Object.fromEntries(rows.map(([, name, list]) => [name, (list ?? "").replaceAll("`", "").split(" ")]));
    const names = Object.keys(viewSelects("x")).filter((name) => !name.endsWith("_of"));
    expect(Object.keys(shown).toSorted()).toEqual(names.toSorted());
    for (const name of names) expect(shown[name]).toEqual(Object.keys(await typesOf(name)));
    for (const name of Object.keys(viewSelects("x"))) expect(page).toContain(`\`${name}\``);
  });

  it("has a run_id in every view", async () => {
    const names = Object.keys(viewSelects("x")).filter((name) => !name.startsWith("Trace") && !name.endsWith("_of"));
    expect(names.toSorted()).toEqual([
      ..."artifacts checkpoints events faults gaps launches logs marks metrics nodes".split(" "),
      ..."otel_logs otel_points otel_spans params runs snapshots spans".split(" "),
    ]);
    for (const name of names) expect(await typesOf(name)).toHaveProperty("run_id");
  });

  it("hides what a deletion covers, and shows what came after it", async () => {
    expect(await ask("SELECT ts_ns FROM @metrics WHERE run_id = 'gone'")).toEqual([{ ts_ns: "2" }]);
    expect(await ask("SELECT ts_ns FROM @metrics_of(run = 'gone')")).toEqual([{ ts_ns: "2" }]);
  });

  it("gives a metric its documented columns", async () => {
    const sql = "SELECT run_id, key, step, epoch, ts_ns, value, worker, phase FROM @metrics WHERE run_id = 'run-2'";
    expect(await ask(sql)).toEqual([
      { run_id: "run-2", key: "loss", step: "1", epoch: "0", ts_ns: "101", value: "NaN", worker: "a", phase: "train" },
    ]);
  });

  it("reads artifacts and checkpoints out of events, sizes exact", async () => {
    expect(await ask("SELECT run_id, path, type, size FROM @artifacts")).toEqual([
      { run_id: "run-2", path: "/m.pt", type: "model", size: "9007199254740993" },
    ]);
    expect(await ask("SELECT run_id, step, path, is_best FROM @checkpoints")).toEqual([
      { run_id: "run-2", step: "7", path: "/c.pt", is_best: 1 },
    ]);
  });

  it("finds the numbers that never came, by incarnation", async () => {
    expect(await ask("SELECT * FROM @gaps")).toEqual([
      { run_id: "run-2", worker: "a", incarnation: 1, first_seq: "3", last_seq: "4", missing: "2" },
    ]);
  });

  it("lists runs with their times and names, and faults of no run", async () => {
    const runs = await ask(
      "SELECT run_id, protocols, name, status, experiment, start_ns, last_ns FROM @runs WHERE run_id IN ('gone', 'run-1', 'run-2') ORDER BY run_id",
    );
    expect(runs).toEqual([
      { run_id: "gone", protocols: ["xtrack"], name: "", status: "lost", experiment: "", start_ns: "1", last_ns: "2" },
      {
        run_id: "run-1",
        protocols: ["cirron"],
        name: "",
        status: "completed",
        experiment: "",
        start_ns: "10",
        last_ns: "20",
      },
      {
        run_id: "run-2",
        protocols: ["xtrack"],
        name: "trial",
        status: "lost",
        experiment: "exp",
        start_ns: "100",
        last_ns: "200",
      },
    ]);
    expect(await ask("SELECT run_id, code, raw FROM @faults")).toEqual([
      { run_id: "", code: "json_syntax", raw: "\0x" },
    ]);
  });

  it("reads only a run's own rows, by time and by parent, once its groups are known [CT-34]", async () => {
    const many = Array.from({ length: 200 }, (_, g) =>
      Array.from({ length: 1000 }, (_, i) => ({
        group_key: `lab/c/many-${g}`,
        span_id: `${g}-${i}`,
        parent_id: `${g}-${i >> 4}`,
        start_ns: BigInt(i),
        received_ns: 5n,
      })),
    ).flat();
    await store.insert("spans", blockOf("spans", many), { token: "many" });
    await store.ddl(`OPTIMIZE TABLE ${store.database}.spans FINAL`);
    const granules = async (where: string): Promise<number> => {
      const sql = `SELECT explain FROM (EXPLAIN indexes = 1 SELECT span_id FROM ${store.database}.spans WHERE ${where})`;
      const lines = await askStore<{ explain: string }>(store, { sql });
      const last = lines
        .map(({ explain }) => /Granules: (\d+)\/(\d+)/.exec(explain)?.[1])
        .filter((n) => n !== undefined);
      return Number(last.at(-1));
    };
    const whole = await granules("1");
    expect(whole).toBeGreaterThan(20);
    const byRun = "group_key IN (SELECT group_key FROM @db.groups FINAL WHERE workspace = 'lab' AND run_id = 'run-1')";
    const inDb = (where: string) => where.replaceAll("@db", store.database);
    expect(await granules(inDb(`${byRun} AND start_ns BETWEEN 5 AND 15`))).toBeLessThanOrEqual(2);
    expect(await granules("group_key IN ('lab/c/many-7') AND start_ns >= 900")).toBeLessThanOrEqual(2);
    expect(await granules("group_key IN ('lab/c/many-7') AND parent_id = '7-3'")).toBeLessThanOrEqual(2);
    expect(await granules("span_id = '150-77'")).toBeLessThanOrEqual(3);
  });
});
