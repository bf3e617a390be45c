// The bundled sample as a server holds it: fourteen trainings of a sweep, a profiled training with spans and tensors
// under the same run as its XTrack twin, a failed pipeline and a launch.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { TestApp } from "../support/app.ts";

const root = join(import.meta.dirname, "../..");
const h200 = join(root, "examples/data/h200");
const semantiva = join(root, "tests/fixtures/semantiva");

export const profiledRun = "349082d8-7fd3-4e08-aeb5-ffb29c1d81d9";
export const failedPipeline = "run-0681617ce3c740e09ad71e89e7e702e4";

const octets = { "content-type": "application/octet-stream" };
const lines = { "content-type": "application/x-ndjson" };

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

/** XTrack frames out of plain payloads, a millisecond apart, numbered from `firstSeq`. */
export function toFrames(
  events: readonly (readonly [type: string, payload: object])[],
  startMs = Date.now(),
  wid?: string,
  firstSeq = 1,
): Buffer {
  return Buffer.concat(
    events.map(([t, p], i) => {
      const m = { seq: firstSeq + i, ts: (startMs + i) * 1000, ...(wid === undefined ? {} : { wid }) };
      const json = Buffer.from(JSON.stringify({ v: 1, t, m, p }));
      const head = Buffer.alloc(4);
      head.writeUInt32BE(json.length);
      return Buffer.concat([head, json]);
    }),
  );
}
