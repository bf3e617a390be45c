// The bundled sample as a server holds it: fourteen trainings of a sweep, a profiled training with spans and tensors
// under the same run as its XTrack twin, a failed pipeline and a launch.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createTestApp, type TestApp } from "../support/app.ts";
import { copyMadeOnce } from "../support/made-once.ts";

const root = join(import.meta.dirname, "../..");
const h200 = join(root, "examples/data/h200");
const semantiva = join(root, "tests/fixtures/semantiva");

export const profiledRun = "349082d8-7fd3-4e08-aeb5-ffb29c1d81d9";
export const failedPipeline = "run-0681617ce3c740e09ad71e89e7e702e4";

const octets = { "content-type": "application/octet-stream" };
const lines = { "content-type": "application/x-ndjson" };

/** A data folder that has the sample already, for a server that was not there when it came. */
export function makeSampleFolder(): Promise<string> {
  return copyMadeOnce("sample", async () => {
    const server = await createTestApp();
    await sendSample(server);
    await server.app.close();
    return server.dataDir;
  });
}

export async function sendSample(server: TestApp): Promise<void> {
  await sendXtrack(server, readFileSync(join(h200, "sweep.xtrack.bin")));
  await sendXtrack(server, readFileSync(join(h200, "cirron-twin.xtrack.bin")));
  const spool = join(h200, "cirron-stats/.cirron/spool");
  for (const name of readdirSync(spool).sort()) {
    await accepted(server.post(`/v1/runs/${profiledRun}/traces`, readFileSync(join(spool, name))));
  }
  for (const file of ["error_midway/trace.ser.jsonl", "rs_combinatorial_file/run_space_demo.trace.jsonl"]) {
    await accepted(server.post("/v1/trace-stream?wait=1", readFileSync(join(semantiva, file)), lines));
  }
  await drained(server);
}

const launchTrace = join(semantiva, "rs_combinatorial_file/run_space_demo.trace.jsonl");

/** The launch of the sample once more, with runs of its own. */
export async function sendSecondAttempt(server: TestApp): Promise<void> {
  const again = readFileSync(launchTrace, "utf8")
    .replaceAll('"run_space_attempt": 1', '"run_space_attempt": 2')
    .replaceAll(/run-([0-9a-f]{30})[0-9a-f]{2}/g, "run-$1ff");
  await accepted(server.post("/v1/trace-stream?wait=1", again, lines));
  await drained(server);
}

/** The failed pipeline without the declaration of a node that ran. */
export async function sendOrphan(server: TestApp, run: string): Promise<void> {
  const [first = "", ...rest] = readFileSync(join(semantiva, "error_midway/trace.ser.jsonl"), "utf8")
    .replaceAll(failedPipeline, run)
    .split("\n");
  const start = JSON.parse(first) as { pipeline_spec_canonical: { nodes: { processor_ref: string }[] } };
  const spec = start.pipeline_spec_canonical;
  spec.nodes = spec.nodes.filter((node) => node.processor_ref !== "FloatAddOperation");
  await accepted(server.post("/v1/trace-stream?wait=1", [JSON.stringify(start), ...rest].join("\n"), lines));
  await drained(server);
}

/** What the real SDK sent, with its blobs, as one run, and another training with a tensor of the same name. */
export async function sendRecorded(server: TestApp, run: string): Promise<{ run: string; tensor: string }> {
  const folder = join(root, "tests/fixtures/cirron/http_ok/recorded");
  const requests = readFileSync(join(folder, "requests.jsonl"), "utf8").trim().split("\n");
  const skipped = new Set(["host", "connection", "content-length"]);
  for (const line of requests) {
    const { method, path, headers, body_file } = JSON.parse(line) as Recorded;
    const body = readFileSync(join(folder, body_file));
    const sent = Object.fromEntries(headers.filter(([name]) => !skipped.has(name.toLowerCase())));
    const { ok } = await fetch(server.app.url + path, { method, headers: sent, body });
    if (!ok) throw new Error(`${path} was refused`);
  }
  const spool = join(root, "tests/fixtures/cirron/torch_full/.cirron/spool");
  for (const name of readdirSync(spool).sort()) {
    const batch = readFileSync(join(spool, name), "utf8").replaceAll('"fc1.', '"0.');
    await accepted(server.post(`/v1/runs/${run}-too/traces`, batch));
  }
  await drained(server);
  const { body } = await server.get("/api/v1/runs?filter=protocol%3Acirron&limit=100");
  const found = (body as { runs: { id: string }[] }).runs.find(
    (each) => each.id !== profiledRun && each.id !== `${run}-too`,
  );
  return { run: found?.id ?? "", tensor: "0.weight" };
}

interface Recorded {
  readonly method: string;
  readonly path: string;
  readonly headers: readonly [string, string][];
  readonly body_file: string;
}

export async function sendXtrack(server: TestApp, frames: Uint8Array): Promise<void> {
  await accepted(server.post("/v1/xtrack?wait=1", frames, octets));
}

export async function drained(server: TestApp): Promise<void> {
  await server.get("/readyz?drained=1");
}

async function accepted(answer: Promise<{ status: number; body: unknown }>): Promise<void> {
  const { status, body } = await answer;
  if (status !== 202) throw new Error(`refused with ${status}: ${JSON.stringify(body)}`);
}

/** XTrack frames out of plain payloads, a millisecond apart, numbered from `firstSeq`. The text "$NaN" is sent as NaN. */
export function toFrames(
  events: readonly (readonly [type: string, payload: object])[],
  startMs = Date.now(),
  wid?: string,
  firstSeq = 1,
): Buffer {
  return Buffer.concat(
    events.map(([t, p], i) => {
      const m = { seq: firstSeq + i, ts: (startMs + i) * 1000, ...(wid === undefined ? {} : { wid }) };
      // As Python writes it, JSON or not.
      const json = Buffer.from(JSON.stringify({ v: 1, t, m, p }).replaceAll('"$NaN"', "NaN"));
      const head = Buffer.alloc(4);
      head.writeUInt32BE(json.length);
      return Buffer.concat([head, json]);
    }),
  );
}
