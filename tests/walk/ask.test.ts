import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { suiteApp } from "../support/app.ts";

const root = join(import.meta.dirname, "../..");
const spool = join(root, "examples/data/h200/cirron-full/.cirron/spool");
const walk = suiteApp();

beforeAll(async () => {
  for (const name of readdirSync(spool)) await walk.post("/v1/runs/gpu/traces", readFileSync(join(spool, name)));
  const sweep = readFileSync(join(root, "examples/data/h200/sweep.xtrack.bin"));
  await walk.post("/v1/xtrack?wait=1", sweep, { "content-type": "application/octet-stream" });
  await walk.app.collector.drained();
});

async function sql(query: string): Promise<{
  status: number;
  body: { columns: { name: string; type: string }[]; rows: unknown[][]; truncated: boolean; code?: string };
}> {
  return (await walk.post("/api/v1/sql", JSON.stringify({ query }))) as never;
}

describe("SQL by people", () => {
  test("bytes that are no text leave the answer JSON", async () => {
    expect((await sql("SELECT unhex('ff80'), hex(unhex('ff80'))")).body.rows).toEqual([["\ufffd", "FF80"]]);
  });

  test("SQL gives every row unless a limit is asked for, and says when it cut", async () => {
    const all = (await sql("SELECT number FROM numbers(12000)")).body;
    expect([all.rows.length, all.truncated]).toEqual([12000, false]);
    const body = JSON.stringify({ query: "SELECT number FROM numbers(12000)", limit: 10 });
    const cut = (await walk.post("/api/v1/sql", body)).body as typeof all;
    expect([cut.rows.length, cut.truncated]).toEqual([10, true]);
    const far = (await sql("SELECT number FROM numbers(3000000)")).body;
    expect([far.rows.length, far.truncated]).toEqual([1_000_000, true]);
  });

  test("answers in columns and rows, 64-bit integers as text and NaN as a word", async () => {
    const { body } = await sql("SELECT run_id, count() AS n FROM metrics WHERE isNaN(value) GROUP BY run_id");
    expect(body.columns).toEqual([
      { name: "run_id", type: "LowCardinality(String)" },
      { name: "n", type: "UInt64" },
    ]);
    expect(body.rows).toHaveLength(1);
    expect(typeof body.rows[0]?.[1]).toBe("string");
    const spans = await sql("SELECT id, startNs, gpuNs FROM TraceSpan WHERE name = 'forward' ORDER BY startNs LIMIT 1");
    expect(spans.body.rows[0]?.[1]).toMatch(/^\d{19}$/);
  });

  test("every documented table can be asked for its run_id", async () => {
    const names =
      "runs launches spans marks snapshots metrics params logs artifacts checkpoints nodes events faults gaps".split(
        " ",
      );
    for (const name of names) expect(await sql(`SELECT run_id FROM ${name} LIMIT 1`)).toMatchObject({ status: 200 });
  });

  test("gives files, and says in them too what is wrong with a query", async () => {
    const file = async (query: string, format: string) => {
      const response = await fetch(`${walk.app.url}/api/v1/sql`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ query, format }),
      });
      return { status: response.status, text: Buffer.from(await response.arrayBuffer()).toString("latin1") };
    };
    const csv = await file("SELECT '=1+1' AS f, -2.5 AS n, 9007199254740993 AS i, 'a,b' AS t, [1, 2] AS l", "csv");
    expect(csv).toEqual({ status: 200, text: `f,n,i,t,l\r\n'=1+1,-2.5,9007199254740993,"a,b","[1,2]"\r\n` });
    expect((await file("SELECT 1", "parquet")).text.slice(0, 4)).toBe("PAR1");
    for (const format of ["csv", "parquet", "json"]) {
      const answer = await file("SELECT nosuch", format);
      expect([format, answer.status, JSON.parse(answer.text).code]).toEqual([format, 400, "sql_refused"]);
    }
  });

  test("what is not a plain question is refused with its place", async () => {
    for (const query of [
      "DROP TABLE runs",
      "SELECT * FROM file('/etc/passwd')",
      "SELECT 1; SELECT 2",
      "SELECT * FROM system.tables",
    ]) {
      const answer = await sql(query);
      expect(answer.status).toBe(400);
      expect(answer.body).toMatchObject({ code: "sql_refused", at: { part: "sql" } });
    }
    expect(await sql("SELECT nonsense FROM runs")).toMatchObject({ status: 400 });
  });
});

describe("comparing the sweep", () => {
  test("shows what differs between runs, and where the one that diverges leaves the others", async () => {
    const { body } = await walk.get("/api/v1/runs?filter=protocol:xtrack&columns=params.lr&sort=name&limit=100");
    const { runs } = body as { runs: { id: string; name: string }[] };
    expect(runs).toHaveLength(14);
    const good = runs.find((run) => run.name.includes("w256-lr0.003"))?.id as string;
    const bad = runs.find((run) => run.name.includes("nan"))?.id as string;
    const answer = await walk.get(`/api/v1/compare?run=${good}&run=${bad}`);
    expect(answer.status).toBe(200);
    const compared = answer.body as {
      params: { name: string; differs: boolean }[];
      divergence: { key: string; step: string | null }[];
    };
    expect(compared.params.filter((row) => row.differs).map((row) => row.name)).toContain("lr");
    expect(compared.divergence.some((row) => row.step !== null)).toBe(true);
  });

  test("says each run's own values in the order in which the runs were named", async () => {
    const { body } = await walk.get("/api/v1/runs?filter=protocol:xtrack&sort=-name&limit=100");
    const { runs } = body as { runs: { id: string; name: string }[] };
    const ids = runs.map(({ id }) => id);
    const answer = await walk.get(`/api/v1/compare?${ids.map((id) => `run=${id}`).join("&")}&part=metrics&part=params`);
    const compared = answer.body as Compared;
    expect(compared.runs.map(({ id }) => id)).toEqual(ids);
    expect([compared.divergence, compared.spans, compared.tensors]).toEqual([[], [], []]);
    const rates = compared.params.find(({ name }) => name === "lr")?.values;
    for (const [i, id] of ids.entries()) {
      const alone = (await walk.get(`/api/v1/runs/${id}`)).body as { params: Record<string, string> };
      expect(rates?.[i]).toBe(alone.params["lr"] ?? null);
      const { metrics } = (await walk.get(`/api/v1/runs/${id}/metrics`)).body as { metrics: MetricOfRun[] };
      for (const metric of metrics) {
        const row = compared.metrics.find(({ key, phase }) => key === metric.key && phase === metric.phase);
        expect([row?.last[i], row?.min[i], row?.max[i], row?.nonfinite[i]]).toEqual([
          metric.last,
          metric.min,
          metric.max,
          metric.nan + metric.pos_inf + metric.neg_inf,
        ]);
      }
    }
  });

  test("leaves out a run that is not there, and says which", async () => {
    const { body } = await walk.get("/api/v1/runs?filter=protocol:xtrack&limit=1");
    const { runs } = body as { runs: { id: string }[] };
    const answer = await walk.get(`/api/v1/compare?run=gone&run=${runs[0]?.id}&part=params`);
    expect(answer.status).toBe(200);
    expect((answer.body as Compared).runs).toHaveLength(1);
    expect((answer.body as Compared).missing).toEqual(["gone"]);
    expect(await walk.get("/api/v1/compare?run=gone")).toMatchObject({ status: 404, body: { code: "run_not_found" } });
  });
});

test("files and checkpoints that a run named are listed, the best one marked", async () => {
  const twin = readFileSync(join(root, "examples/data/h200/cirron-twin.xtrack.bin"));
  await walk.post("/v1/xtrack?wait=1", twin, { "content-type": "application/octet-stream" });
  const { runs } = (await walk.get("/api/v1/runs?filter=name:gpt-128-profiled")).body as { runs: { id: string }[] };
  const { artifacts } = (await walk.get(`/api/v1/runs/${runs[0]?.id}/artifacts`)).body as { artifacts: unknown[] };
  expect(artifacts).toEqual([expect.objectContaining({ stored: false, path: expect.stringMatching(/^\//) })]);
  const { checkpoints } = (await walk.get(`/api/v1/runs/${runs[0]?.id}/checkpoints`)).body as {
    checkpoints: { is_best: boolean; metrics: Record<string, number> }[];
  };
  expect(checkpoints[0]).toMatchObject({ is_best: true, metrics: { val_loss: 2.5248075485229493 } });
});

test("a span is told with its way to the root, an ancestor that never arrived among it", async () => {
  const { rows } = (await sql("SELECT id FROM TraceSpan WHERE name = 'forward' ORDER BY startNs LIMIT 1")).body;
  const { status, body } = await walk.get(`/api/v1/runs/gpu/spans/by-id/${rows[0]?.[0]}`);
  expect(status).toBe(200);
  const { ancestors, gpu_ns } = body as { ancestors: { name: string; arrived: boolean }[]; gpu_ns: string };
  expect(ancestors.map((one) => [one.name, one.arrived])).toEqual([
    ["", false],
    ["epoch", true],
    ["step", true],
  ]);
  expect(Number(gpu_ns)).toBeGreaterThan(0);
  expect((await walk.get("/api/v1/runs/gpu/spans/by-id/nope")).body).toMatchObject({ code: "span_not_found" });
});

interface Compared {
  runs: { id: string }[];
  missing: string[];
  params: { name: string; values: (string | null)[] }[];
  metrics: { key: string; phase: string; last: unknown[]; min: unknown[]; max: unknown[]; nonfinite: number[] }[];
  divergence: unknown[];
  spans: unknown[];
  tensors: unknown[];
}

interface MetricOfRun {
  key: string;
  phase: string;
  last: unknown;
  min: unknown;
  max: unknown;
  nan: number;
  pos_inf: number;
  neg_inf: number;
}
