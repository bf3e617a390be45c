import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createTestApp, type TestApp } from "../support/app.ts";

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app.remove());

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
