// OpenTelemetry's own SDK for JavaScript, in a process of its own, against a real server.

import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { suiteApp } from "../support/app.ts";

const program = join(import.meta.dirname, "../clients/otel-training.mjs");
const walk = suiteApp();

async function sql(query: string): Promise<unknown[][]> {
  const { body } = await walk.post("/api/v1/sql", JSON.stringify({ query }));
  return (body as { rows: unknown[][] }).rows;
}

test.each(["proto", "json"])(
  "takes traces, metrics and logs of the JavaScript SDK, as %s [OT-33]",
  async (encoding) => {
    const run = `js-${encoding}`;
    const { stderr } = await promisify(execFile)(process.execPath, [program, walk.app.url, run, encoding]);
    expect(stderr).toBe("");
    await walk.app.collector.drained();
    expect(
      await sql(`SELECT key, step, value, worker FROM metrics WHERE run_id = '${run}' ORDER BY key, step`),
    ).toEqual([
      ["loss", "1", 1, "2"],
      ["loss", "2", 0.5, "2"],
      ["loss", "3", 1 / 3, "2"],
      ["tokens", null, 3072, "2"],
    ]);
    expect(
      await sql(`SELECT name, status_code, events != '' FROM otel_spans WHERE run_id = '${run}' ORDER BY step`),
    ).toEqual([
      ["train_step", "0", 1],
      ["train_step", "0", 1],
      ["train_step", "2", 1],
    ]);
    expect(await sql(`SELECT level, body, step FROM otel_logs WHERE run_id = '${run}' ORDER BY step`)).toEqual(
      [1, 2, 3].map((step) => ["warning", `step ${step}`, String(step)]),
    );
    expect(await sql("SELECT count() FROM faults")).toEqual([["0"]]);
  },
);

const oracle = join(import.meta.dirname, "../clients/otlp-oracle.mjs");

test("reads what protobufjs writes of messages of any content, and writes what it reads [OT-33]", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [oracle, "300", "7"], { maxBuffer: 64 * 1024 * 1024 });
  const { decodeMessage, encodeMessage } = await import("#wire/otlp/message.ts");
  const { toJson } = await import("#wire/otlp/json-message.ts");
  const { span } = await import("#wire/otlp/schema.ts");
  const again: string[] = [];
  const lines = stdout.trim().split("\n");
  for (const line of lines) {
    const { bytes, said } = JSON.parse(line) as { bytes: string; said: unknown };
    const decoded = decodeMessage(span, Buffer.from(bytes, "base64"));
    expect(decoded).not.toBeNull();
    if (decoded === null) return;
    expect(toJson(span, decoded.message)).toEqual(said);
    again.push(Buffer.from(encodeMessage(span, decoded.message)).toString("base64"));
  }
  expect(lines).toHaveLength(300);
  // And the other way: protobufjs reads what we wrote as what it had said.
  const back = promisify(execFile)(process.execPath, [oracle, "read"], { maxBuffer: 64 * 1024 * 1024 });
  back.child.stdin?.end(again.join("\n"));
  const read = (await back).stdout.trim().split("\n");
  expect(read.map((line) => JSON.parse(line) as unknown)).toEqual(
    lines.map((line) => (JSON.parse(line) as { said: unknown }).said),
  );
});
