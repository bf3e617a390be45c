import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { ArrayColumn, NullableColumn } from "#base/columns.ts";
import { atOnce } from "#base/turns.ts";
import type { Applied } from "#intake/applied.ts";
import type { ArrivedAt } from "#intake/input.ts";
import type { KnownRecords } from "#intake/intake-state.ts";
import { KnownGroups } from "#intake/known-groups.ts";
import { RecentIds } from "#intake/recent-ids.ts";
import { rowFlags } from "#model/row-flags.ts";
import type { AnyColumn, FactTable } from "#model/tables.ts";
import { bundledSchemas } from "#wire/semantiva/bundled.ts";
import { createRegistry } from "#wire/semantiva/registry.ts";
import { applySemantiva } from "./apply.ts";
import { readLinesInSteps } from "./lines-input.ts";

const registry = createRegistry(bundledSchemas);
const encoder = new TextEncoder();
const fixtures = "tests/fixtures/semantiva";
const launchId = "0682b1b684444aeca5dd938c74a0cfb8";

function createState(): KnownRecords {
  return { groups: new KnownGroups(), faults: new RecentIds() };
}

function apply(body: Uint8Array | string, state = createState(), meta: Partial<ArrivedAt> = {}): Applied {
  const bytes = typeof body === "string" ? encoder.encode(body) : body;
  const arrival = {
    workspace: "w",
    receivedNs: 5n,
    position: 7,
    transport: "http",
    runOverride: null,
    imported: false,
    ...meta,
  };
  const source = { workspace: arrival.workspace, body: bytes, file: "t.jsonl", firstLine: 1, offset: 0 };
  return applySemantiva(state, atOnce(readLinesInSteps(source, registry)), arrival);
}

function cell(column: AnyColumn, row: number): unknown {
  if (column instanceof NullableColumn) return column.isNull(row) ? null : column.inner.at(row);
  if (column instanceof ArrayColumn) {
    const start = row === 0 ? 0 : column.ends.at(row - 1);
    return Array.from({ length: column.ends.at(row) - start }, (_, i) => column.items.at(start + i));
  }
  return column.at(row);
}

type Row = Record<string, unknown>;

function rowsOf(applied: Applied, table: FactTable): Row[] {
  const part = applied.parts.find((candidate) => candidate.table === table);
  if (part === undefined) return [];
  const columns = Object.entries<AnyColumn>(part.rows);
  const count = part.rows.group_key.length;
  for (const [name, column] of columns) expect(column.length, `${table}.${name}`).toBe(count);
  return Array.from({ length: count }, (_, row) =>
    Object.fromEntries(columns.map(([name, column]) => [name, cell(column, row)])),
  ).filter((_, row) => part.dropped?.[row] !== 1);
}

const combinatorial = readFileSync(`${fixtures}/rs_combinatorial_file/run_space_demo.trace.jsonl`);
const edgeValues = readFileSync(`${fixtures}/edge_values/trace.ser.jsonl`);

describe("applySemantiva", () => {
  it("turns a recorded launch into events, nodes and lifecycle rows [ST-02]", () => {
    const applied = apply(combinatorial);
    expect(applied).toMatchObject({ accepted: 66, duplicates: 0, faults: [] });
    const events = rowsOf(applied, "events");
    const nodes = rowsOf(applied, "nodes");
    const lifecycle = rowsOf(applied, "lifecycle");
    expect([events.length, nodes.length, lifecycle.length]).toEqual([18, 48, 18]);
    expect(nodes[0]).toMatchObject({
      group_key: "w/s/run-3fd25422cb434e74b7662e7f06038793",
      node_id: "a956b817-2f6b-57fd-8e55-7807ebeee108",
      status: "succeeded",
      started_at: "2026-11-15T02:49:58.493Z",
      start_ns: 1794710998493000000n,
      wall_ms: 0n,
      cpu_ms: 0n,
      seq: null,
      timestamp: null,
      received_ns: 5n,
      jpos: 7n,
      jrow: 2,
      flags: 0,
      raw: "",
    });
    expect(nodes[1]).toMatchObject({ upstream: ["a956b817-2f6b-57fd-8e55-7807ebeee108"] });
  });

  it("keeps every line byte for byte, whether strict JSON can say it or not (S18)", () => {
    for (const file of [combinatorial, edgeValues]) {
      const applied = apply(file);
      const rows = [...rowsOf(applied, "events"), ...rowsOf(applied, "nodes")];
      const kept = rows
        .toSorted((a, b) => Number(a["jrow"]) - Number(b["jrow"]))
        .map((row) => row["raw"] || row["payload"]);
      expect(`${kept.join("\n")}\n`).toBe(file.toString("utf8"));
      for (const row of rows) expect(() => JSON.parse(row["payload"] as string)).not.toThrow();
    }
    const odd = rowsOf(apply(edgeValues), "nodes").filter((row) => row["raw"] !== "");
    expect(odd).toHaveLength(2);
    expect(odd[0]?.["payload"]).toContain(
      '"a":"NaN","b":"Infinity","c":"-Infinity","d":123456789012345678901234567890',
    );
  });

  it("takes the SHA-256 of the line as the record's identity", () => {
    const line = edgeValues.toString("utf8").split("\n").at(-2) as string;
    const [row] = rowsOf(apply(line), "events");
    expect(row?.["event_id"]).toBe(createHash("sha256").update(line).digest("hex").slice(0, 32));
    expect(rowsOf(apply(`${line}\r\n`), "events")[0]?.["event_id"]).toBe(row?.["event_id"]);
  });

  it("counts a line that comes again and does not store it, in whatever chunk", () => {
    const state = createState();
    apply(combinatorial, state);
    expect(apply(combinatorial, state)).toMatchObject({ parts: [], state: [], accepted: 0, duplicates: 66 });
    const twice = Buffer.concat([edgeValues, edgeValues]);
    expect(apply(twice, state)).toMatchObject({ accepted: 12, duplicates: 12 });
  });

  it("ends in the same rows for any chunking and order of the lines", () => {
    const strip = (rows: Row[]) =>
      rows.map(({ jrow, jpos, ...row }) => JSON.stringify(row, (_, v) => (typeof v === "bigint" ? `${v}` : v))).sort();
    const whole = apply(combinatorial);
    const state = createState();
    const lines = combinatorial.toString("utf8").trimEnd().split("\n").reverse();
    const pieces = lines.flatMap((line, i) => [
      apply(line, state, { position: i }),
      apply(line, state, { position: i }),
    ]);
    for (const table of ["events", "nodes", "lifecycle"] as const) {
      expect(strip(pieces.flatMap((piece) => rowsOf(piece, table)))).toEqual(strip(rowsOf(whole, table)));
    }
  });

  it("stores the same line in two workspaces", () => {
    const state = createState();
    apply(edgeValues, state);
    expect(apply(edgeValues, state, { workspace: "v" })).toMatchObject({ accepted: 12, duplicates: 0 });
  });

  it("joins a run to its launch by launch id and attempt, and stores the launch's constants once [ST-12, ST-14]", () => {
    const lifecycle = rowsOf(apply(combinatorial), "lifecycle");
    const key = `w/l/${launchId}/1`;
    const starts = lifecycle.filter((row) => row["type"] === "pipeline_start");
    expect(starts.map((row) => row["launch_key"])).toEqual(Array(8).fill(key));
    expect(starts.map((row) => row["run_index"])).toEqual([0n, 1n, 2n, 3n, 4n, 5n, 6n, 7n]);
    expect(starts.map((row) => row["planned_runs"])).toEqual(Array(8).fill(null));
    expect(lifecycle.filter((row) => row["planned_runs"] !== null)).toMatchObject([
      { type: "run_space_start", group_key: key, launch_key: key, planned_runs: 8n, total_runs: 8n },
    ]);
    const half =
      '{"record_type":"pipeline_start","schema_version":1,"run_id":"r","pipeline_id":"p","pipeline_spec_canonical":{},"run_space_launch_id":"l"}';
    expect(rowsOf(apply(half), "lifecycle")[0]).toMatchObject({ launch_key: "", launch_id: "l", attempt: null });
    const nameless = half.replace('"run_space_launch_id":"l"', '"run_space_launch_id":"","run_space_attempt":1');
    expect(rowsOf(apply(nameless), "lifecycle")[0]).toMatchObject({ launch_key: "", attempt: 1n });
  });

  it("keeps each run's index and context, NaN in it too [ST-13]", () => {
    const [, start] = rowsOf(apply(combinatorial), "lifecycle");
    expect(start).toMatchObject({
      run_index: 0n,
      context: '{"addend":1,"batch_size":16,"factor":2,"seed":1,"value":3}',
      semantic_id: "plsemid-31465fd628880670eac62f2549199cc6dccd0f930e99de74ef9711ded6088b9f",
      config_id: "plcid-91763a33d56577fda106cca55cc3c844d371dcd3e1b74b53f87d7da9d288fc55",
      expected: { length: 6 },
    });
    const odd =
      '{"record_type":"pipeline_start","schema_version":1,"run_id":"r","pipeline_id":"p","pipeline_spec_canonical":{},"run_space_context":{"z":NaN,"a":123456789012345678901234567890}}';
    expect(rowsOf(apply(odd), "lifecycle")[0]?.["context"]).toBe('{"a":123456789012345678901234567890,"z":"NaN"}');
  });

  it("puts each run's context among the params, so that runs are found by it [ST-13]", () => {
    const params = rowsOf(apply(combinatorial), "params");
    expect(params).toHaveLength(40);
    expect(params.slice(0, 5).map(({ name, value, value_num, seq }) => [name, value, value_num, seq])).toEqual([
      ["addend", "1", 1, -1n],
      ["batch_size", "16", 16, -1n],
      ["factor", "2", 2, -1n],
      ["seed", "1", 1, -1n],
      ["value", "3", 3, -1n],
    ]);
    const odd =
      '{"record_type":"pipeline_start","schema_version":1,"run_id":"r","pipeline_id":"p","pipeline_spec_canonical":{},"run_space_context":{"z":NaN,"a":123456789012345678901234567890,"s":"x","o":{"b":1,"a":2}}}';
    expect(rowsOf(apply(odd), "params").map(({ name, value, value_num }) => [name, value, value_num])).toEqual([
      ["a", "123456789012345678901234567890", null],
      ["o", '{"a":2,"b":1}', null],
      ["s", '"x"', null],
      ["z", '"NaN"', Number.NaN],
    ]);
  });

  it("never makes a run of a launch's own lines, which carry the launch id as run_id (S4)", () => {
    const applied = apply(combinatorial);
    const launchRows = rowsOf(applied, "events").filter((row) => String(row["type"]).startsWith("run_space_"));
    expect(launchRows.map((row) => row["group_key"])).toEqual(Array(2).fill(`w/l/${launchId}/1`));
    expect(rowsOf(applied, "lifecycle").filter((row) => row["run_id"] === launchId)).toEqual([]);
    const groups = applied.state.flatMap((change) => (change.table === "groups" ? [change.row] : []));
    expect(groups.filter((row) => row.protocol === "semantiva")).toHaveLength(8);
    expect(groups.filter((row) => row.protocol === "launch")).toMatchObject([{ group_key: `w/l/${launchId}/1` }]);
  });

  it("reads a folder with one file per run and its own launch file like one stream (S9)", () => {
    const folder = `${fixtures}/rs_by_position_dir/trace`;
    const state = createState();
    const files = readdirSync(folder).filter((name) => name.endsWith(".jsonl"));
    const lifecycle = files.flatMap((name) => rowsOf(apply(readFileSync(`${folder}/${name}`), state), "lifecycle"));
    expect(
      new Set(lifecycle.filter((row) => row["type"] === "pipeline_start").map((row) => row["launch_key"])),
    ).toEqual(new Set(["w/l/1a82dd488ce842d09320f467c8bd98c9/1"]));
    expect(lifecycle).toHaveLength(8);
  });

  it("takes the lines of interleaved runs and repeated sequence numbers as they are (S2, S8) [ST-05]", () => {
    const line = (run: string, seq: number, type = "pipeline_end") =>
      `{"record_type":"${type}","run_id":"${run}","schema_version":1,"seq":${seq}}\n`;
    const applied = apply(
      line("a", 1) + line("b", 1) + line("a", 2) + line("b", 2) + line("a", 1).replace("{", '{"x":1,'),
    );
    expect(applied).toMatchObject({ accepted: 5, duplicates: 0, faults: [] });
    expect(rowsOf(applied, "lifecycle").map((row) => row["seq"])).toEqual([1n, 1n, 2n, 2n, 1n]);
  });

  it("keeps a record of an unknown type as an event of its run, flagged", () => {
    const applied = apply('{"record_type":"novel","schema_version":1,"run_id":"r","x":[1]}');
    expect(rowsOf(applied, "events")).toMatchObject([
      { type: "novel", group_key: "w/s/r", flags: rowFlags.unknown_type },
    ]);
    expect(rowsOf(applied, "lifecycle")).toEqual([]);
    const ofLaunch = apply(
      '{"record_type":"run_space_progress","schema_version":1,"run_id":"l","run_space_launch_id":"l","run_space_attempt":2}',
    );
    expect(rowsOf(ofLaunch, "events")).toMatchObject([{ group_key: "w/l/l/2" }]);
  });

  it("keeps the text of a time that is none, and 0 for it [ST-04]", () => {
    const line = (timestamp: string) =>
      `{"record_type":"pipeline_end","run_id":"r","schema_version":1,"timestamp":"${timestamp}"}`;
    expect(rowsOf(apply(line("soon")), "lifecycle")[0]).toMatchObject({ timestamp: "soon", ts_ns: 0n });
    expect(rowsOf(apply(line("9999-01-01T00:00:00.000Z")), "events")[0]).toMatchObject({ ts_ns: 0n });
    expect(rowsOf(apply(line("2026-11-15T02:49:58.380Z")), "events")[0]).toMatchObject({ ts_ns: 1794710998380000000n });
  });

  it("stores half a surrogate pair in its escaped form and says so", () => {
    const line = '{"record_type":"pipeline_end","run_id":"r\\ud800","schema_version":1}';
    expect(rowsOf(apply(line), "events")[0]).toMatchObject({
      group_key: "w/s/r\\ud800",
      flags: rowFlags.escaped_text,
      payload: line,
    });
  });

  it("keeps a bad line as a fault with its place and bytes, and its neighbours unharmed", () => {
    const good = '{"record_type":"pipeline_end","run_id":"r","schema_version":1}\n';
    const bad = '{"record_type":"pipeline_end","run_id":"r","schema_version":1,"summary":3}\n';
    const state = createState();
    const applied = apply(`${good}{"half": \n${bad}\n  \n${good.replace("r", "q")}`, state);
    expect(applied).toMatchObject({ accepted: 1, duplicates: 0, faults: { length: 3 } });
    expect(rowsOf(applied, "faults")).toMatchObject([
      {
        code: "line_not_json",
        group_key: "",
        place: expect.stringContaining('"line":2,"column":10,'),
        raw: '{"half": ',
      },
      {
        code: "semantiva_schema",
        group_key: "w/s/r",
        protocol: "semantiva",
        place: expect.stringContaining('"pointer":"/summary"'),
        raw: bad.trimEnd(),
      },
      { code: "semantiva_header" },
    ]);
    const again = apply(`${good}{"half": \n${bad}`, state);
    expect(again).toMatchObject({ accepted: 0, duplicates: 1, faults: { length: 2 }, parts: [] });
  });

  it("tells half a line at the end of the input from a broken one", () => {
    const whole = '{"record_type":"pipeline_end","run_id":"r","schema_version":1}';
    expect(apply(whole)).toMatchObject({ accepted: 1, faults: [] });
    expect(apply(whole.slice(0, 30)).faults).toMatchObject([{ code: "line_torn", place: { line: 1, column: 31 } }]);
    expect(apply(`${whole.slice(0, 30)}\n`).faults).toMatchObject([{ code: "line_not_json" }]);
  });

  it("reports a line beyond the limit by its length and keeps its head", () => {
    const body = encoder.encode(`{"a":"${"x".repeat(9000)}"}\n{}`);
    const source = { workspace: "w", body, file: "", firstLine: 4, offset: 100 };
    const chunk = atOnce(readLinesInSteps(source, registry, { lineBytesMax: 5000 }));
    expect(chunk.faulty.map(({ fault }) => fault)).toMatchObject([
      { code: "line_too_long", place: { line: 4, offset: 100 }, raw: { length: 4096 } },
      { code: "semantiva_header", place: { line: 5, offset: 9109 } },
    ]);
  });

  it("puts a named run's pipelines under that name and keeps their own id as an alias", () => {
    const applied = apply(edgeValues, createState(), { runOverride: "job-1" });
    const groups = applied.state.filter((change) => change.table === "groups");
    expect(groups).toMatchObject([{ row: { run_id: "job-1", group_key: "w/s/run-e6d316ba37214d43b9050ac9a9799f84" } }]);
    const aliases = applied.state.flatMap((change) => (change.table === "aliases" ? [change.row.alias] : []));
    expect(aliases.sort()).toEqual(["job-1", "run-e6d316ba37214d43b9050ac9a9799f84"]);
  });

  it("keeps an error's text whatever it holds (S17)", () => {
    const text = readFileSync(`${fixtures}/error_midway/trace.ser.jsonl`, "utf8").trimEnd().split("\n")[3] as string;
    const odd = text.replaceAll("Division by zero is not allowed", `a\\u0000b\\n${"é".repeat(50_000)}`);
    expect(rowsOf(apply(odd), "nodes")).toMatchObject([{ status: "error", payload: odd }]);
  });
});
