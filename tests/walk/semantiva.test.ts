// Semantiva over a real socket, through the journal and the real engine, to the answers.

import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { createRandom, fixtures, readLines, shuffle, traceFiles } from "../semantiva/feed.ts";
import { suiteApp } from "../support/app.ts";

const app = suiteApp({ lineBytesMax: "1 MiB", jsonDepthMax: "100" });

const headers = { "content-type": "application/x-ndjson" };
const launchId = "0682b1b684444aeca5dd938c74a0cfb8";
const failedRun = "run-0681617ce3c740e09ad71e89e7e702e4";

async function post(lines: readonly string[], gzip = false) {
  const body = Buffer.from(`${lines.join("\n")}\n`);
  const answer = gzip
    ? await app.post("/v1/trace-stream?wait=1", gzipSync(body), { ...headers, "content-encoding": "gzip" })
    : await app.post("/v1/trace-stream?wait=1", body, headers);
  return answer as { status: number; body: { accepted: number; duplicates: number; faults: unknown[] } };
}

function readExpected(path: string) {
  return JSON.parse(readFileSync(`${fixtures}/${path}`, "utf8"));
}

describe("a trace stream", () => {
  it("is taken once, however often and in whatever order it is posted", async () => {
    const lines = readLines("rs_combinatorial_file/run_space_demo.trace.jsonl");
    expect(await post(shuffle(lines, createRandom(3)), true)).toMatchObject({
      status: 202,
      body: { accepted: 66, duplicates: 0, faults: [] },
    });
    expect(await post(lines)).toMatchObject({ status: 202, body: { accepted: 0, duplicates: 66, faults: [] } });
    for (const path of traceFiles("rs_by_position_dir")) await post(readLines(path));
    for (const sample of ["plain_file", "error_midway", "edge_values"]) {
      await post(readLines(`${sample}/trace.ser.jsonl`));
    }
  });

  it("is not running when it was read from a file that has no end", async () => {
    const lines = readLines("plain_file/trace.ser.jsonl").filter((line) => !line.includes('"pipeline_end"'));
    const other = lines.join("\n").replaceAll(/run-[0-9a-f]{32}/g, "run-without-an-end");
    await app.post("/v1/trace-stream?wait=1&imported=1", `${other}\n`, headers);
    expect((await app.get("/api/v1/runs/run-without-an-end")).body).toMatchObject({ status: "lost" });
  });

  it("has its good lines taken and its bad ones answered by line", async () => {
    const bad = '{"record_type": "pipeline_end", "run_id": "r-bad", "schema_version": 1, "summary": 1}';
    const good = '{"record_type": "pipeline_end", "run_id": "r-good", "schema_version": 1}';
    const { status, body } = await post([good, "nonsense", bad]);
    expect(status).toBe(202);
    expect(body).toMatchObject({
      accepted: 1,
      faults: [
        { line: 2, code: "line_not_json" },
        { line: 3, code: "semantiva_schema" },
      ],
    });
  });

  it("has hostile lines answered by line and its neighbours unharmed", async () => {
    const good = '{"record_type": "pipeline_end", "run_id": "r-hostile", "schema_version": 1}';
    const body = Buffer.concat([
      Buffer.from(`${good}\n{"a": "${"x".repeat(2 << 20)}"}\n{"a": ${"[".repeat(101)}\n{"a": "`),
      Buffer.of(0xff, 0xfe),
      Buffer.from(`"}\n\0\0\n${good.replace("1}", '1, "seq": 3}')}\n${good.slice(0, 30)}`),
    ]);
    const answer = await app.post("/v1/trace-stream?wait=1", body, headers);
    expect(answer).toMatchObject({
      status: 202,
      body: {
        accepted: 2,
        faults: [
          { line: 2, code: "line_too_long" },
          { line: 3, code: "line_too_deep" },
          { line: 4, code: "line_not_json", message: expect.stringContaining("invalid UTF-8") },
          { line: 5, code: "line_not_json" },
          { line: 7, code: "line_torn" },
        ],
      },
    });
    const { body: run } = await app.get("/api/v1/runs/r-hostile/completeness");
    expect(run).toMatchObject({ status: "partial", problems: ["missing_pipeline_start"] });
  });

  it.each(["plain_file", "error_midway", "edge_values"])(
    "of %s is judged as the reference judges it [ST-18]",
    async (sample) => {
      const { runs } = readExpected(`${sample}/trace.ser.jsonl.expected.json`);
      for (const run of runs) {
        const { body } = await app.get(`/api/v1/runs/${run.run_id}/completeness`);
        expect(body).toMatchObject(run);
      }
    },
  );

  it("tells complete from successful (S5)", async () => {
    const { body } = await app.get(`/api/v1/runs/${failedRun}/completeness`);
    expect(body).toMatchObject({
      status: "complete",
      problems: [],
      success: { outcome: "failed", status_raw: "error" },
    });
    const { body: run } = await app.get(`/api/v1/runs/${failedRun}`);
    expect(run).toMatchObject({ status: "failed", protocols: ["semantiva"] });
  });

  it("has a verdict on a run that is not known [ST-18]", async () => {
    const { body } = await app.get("/api/v1/runs/nobody/completeness");
    expect(body).toMatchObject({ run_id: "nobody", status: "invalid", problems: ["unknown_run"] });
  });

  it("shows its pipeline as executed", async () => {
    const { status, body } = await app.get(`/api/v1/runs/${failedRun}/graph`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      nodes: [
        { label: "FloatValueDataSource", status: "succeeded" },
        {
          label: "FloatAddOperation",
          status: "succeeded",
          parameters: [{ name: "addend", value: "1.0", source: "node" }],
        },
        { label: "FloatDivideOperation", status: "error", error: { type: "ValueError" }, counts: { error: 1 } },
        { status: "missing" },
        { status: "missing" },
      ],
      edges: { length: 4 },
    });
  });

  it("never makes a run of a launch (S4)", async () => {
    const { body } = await app.get("/api/v1/runs?limit=1000");
    const ids = (body as { runs: { id: string }[] }).runs.map(({ id }) => id);
    expect(ids).not.toContain(launchId);
    expect(ids).toContain(failedRun);
    expect((await app.get(`/api/v1/runs/${launchId}`)).status).toBe(404);
  });

  it("shows a launch with its verdict, axes and cells [ST-12, ST-13, ST-14, ST-18]", async () => {
    const [expected] = readExpected("rs_combinatorial_file/run_space_demo.trace.jsonl.expected.json").launches;
    const { status, body } = await app.get(`/api/v1/launches/${launchId}/1`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id: launchId,
      attempts: [1],
      status: "completed",
      combine_mode: "combinatorial",
      planned: 8,
      runs: 8,
      statuses: { completed: 8 },
      completeness: expected,
      success: { outcome: "succeeded", missing_runs: 0 },
      constants: { run_space_total_runs: "8", run_space_planned_run_count: "8", run_space_max_runs_limit: "500" },
      duplicates: [],
      pipelines: [{ runs: 8 }],
    });
    const { grid, axes } = body as {
      grid: { index: number; run: string; context: object }[];
      axes: { name: string }[];
    };
    expect(grid.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(grid[0]).toMatchObject({
      run: "run-3fd25422cb434e74b7662e7f06038793",
      status: "completed",
      context: { seed: "1" },
    });
    expect(axes.length).toBe(5);
    const { body: best } = await app.get(`/api/v1/launches/${launchId}/1?best=-index&columns=duration`);
    expect(best).toMatchObject({ best: { run: grid[7]?.run, value: { num: 7 } } });
    expect((best as { grid: { cells: object }[] }).grid[0]?.cells).toHaveProperty("duration");
    expect((await app.get(`/api/v1/launches/${launchId}/2`)).status).toBe(404);
  });

  it("finds runs by their context like by any param [ST-13]", async () => {
    const filter = encodeURIComponent("params.seed=1 AND params.value=3");
    const { body } = await app.get(`/api/v1/runs?filter=${filter}&columns=params.factor`);
    const { runs } = body as { runs: { id: string; cells: object }[] };
    expect(runs.map(({ id }) => id)).toContain("run-3fd25422cb434e74b7662e7f06038793");
    expect(runs.length).toBeLessThan(8);
    expect(runs[0]?.cells).toMatchObject({ "params.factor": { text: "2" } });
    const { body: listed } = await app.get(`/api/v1/runs/${runs[0]?.id}/params`);
    expect((listed as { params: { origin: string }[] }).params.map(({ origin }) => origin)).toEqual(
      Array(5).fill("run_space"),
    );
    const { body: received } = await app.get(`/api/v1/runs/${runs[0]?.id}/events?limit=100`);
    expect((received as { events: { type: string }[] }).events.map(({ type }) => type)).not.toContain("param");
  });

  it("shows launches with their runs' outcomes to SQL", async () => {
    const query = `SELECT run_index, run_outcome FROM launches WHERE launch_id = '${launchId}' ORDER BY run_index`;
    const { body } = await app.post("/api/v1/sql", JSON.stringify({ query }));
    expect((body as { rows: unknown[][] }).rows).toEqual(Array.from({ length: 8 }, (_, i) => [String(i), "ok"]));
  });

  it("lists launches in pages, and judges everything at once [ST-18]", async () => {
    const first = await app.get("/api/v1/launches?limit=1");
    const { launches, next } = first.body as { launches: { id: string }[]; next: string };
    const second = await app.get(`/api/v1/launches?limit=1&cursor=${next}`);
    const ids = [...launches, ...(second.body as { launches: { id: string }[] }).launches].map(({ id }) => id);
    expect(ids).toEqual(["1a82dd488ce842d09320f467c8bd98c9", launchId]);
    const { body } = await app.get("/api/v1/completeness");
    const all = body as { runs: { run_id: string }[]; launches: object[] };
    expect(all.launches).toHaveLength(2);
    const expected = readExpected("rs_by_position_dir/expected_all.json");
    const byId = new Map(all.runs.map((run) => [run.run_id, run]));
    for (const run of expected.runs) expect(byId.get(run.run_id)).toMatchObject(run);
    expect(all.launches).toContainEqual(expected.launches[0]);
  });
});
