import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { expect, it } from "vitest";
import { encodeFrame } from "#wire/xtrack/frames.testing.ts";
import { suiteApp } from "../support/app.ts";
import { childrenOf } from "../support/process-tree.ts";

const app = suiteApp();

it("counts what it takes, by protocol, on the Health page and for Prometheus", async () => {
  const lines = readFileSync(new URL("../fixtures/semantiva/plain_file/trace.ser.jsonl", import.meta.url), "utf8");
  const count = lines.trim().split("\n").length;
  for (const _ of [1, 2]) await app.post("/v1/trace-stream?wait=1", lines);
  await app.post("/v1/trace-stream?wait=1", "{torn\n");
  const { body } = await app.get("/api/v1/health");
  expect(body).toMatchObject({
    ok: true,
    problems: [],
    protocols: [{ protocol: "semantiva", accepted: count, duplicates: count, faults: 1 }],
    journal: { waiting_events: 0, lag_ms: 0, skipped_records: 0 },
    store: { engine: "chDB, embedded", up: true, restarts: 0 },
  });
  const { store, journal } = body as {
    store: { rows: string; insert_p50_ms: number };
    journal: { last_sync_ms: number };
  };
  expect(Number(store.rows)).toBeGreaterThan(count);
  expect(store.insert_p50_ms).toBeGreaterThan(0);
  expect(journal.last_sync_ms).toBeGreaterThan(0);
  const text = await (await fetch(`${app.app.url}/metrics`)).text();
  expect(text).toContain(`tributary_records_accepted_total{protocol="semantiva"} ${count}`);
  expect(text).toContain(`tributary_records_duplicate_total{protocol="semantiva"} ${count}`);
  expect(text).toMatch(/tributary_faults_total\{protocol="semantiva",code="\w+"\} 1/);
  expect(text).toMatch(/tributary_insert_seconds_count\{table="\w+"\} [1-9]/);
});

it("lists who is connected, and how many events never came", async () => {
  const [address] = app.app.xtrack as [string];
  const { host, port } = { host: address.split(":")[0] as string, port: Number(address.split(":")[1]) };
  const socket = connect(port, host);
  const meta = (seq: number) => ({ seq, ts: 1_700_000_000_000_000 + seq, wid: "w0" });
  socket.write(encodeFrame("run_start", meta(1), { run_id: { id: "connected" } }));
  socket.write(encodeFrame("metric", meta(5), { run_id: "connected", key: "loss", value: 1 }));
  const said = async () => {
    const { connections, protocols } = (await app.get("/api/v1/health")).body as {
      connections: object[];
      protocols: { protocol: string }[];
    };
    return { connections, xtrack: protocols.find((one) => one.protocol === "xtrack") };
  };
  const connection = { transport: "tcp", run: "connected", worker: "w0", events: 2, accepts_commands: false };
  const expected = { connections: [connection], xtrack: { accepted: 2, missing: 3 } };
  await expect.poll(said, { timeout: 10_000 }).toMatchObject(expected);
  socket.end();
});

it("counts for Prometheus how often the engine was started again", async () => {
  const restarts = async () => {
    const text = await (await fetch(`${app.app.url}/metrics`)).text();
    return /^tributary_engine_restarts_total (\d+)$/m.exec(text)?.[1];
  };
  expect(await restarts()).toBe("0");
  const isEngine = (pid: number) => readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("engine-main");
  for (const pid of childrenOf(process.pid).filter(isEngine)) process.kill(pid, "SIGKILL");
  await expect.poll(restarts, { timeout: 10_000 }).toBe("1");
});
