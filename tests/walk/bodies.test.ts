// Bodies that unpack to very many records: they are bounded, they are worked on in turns with everybody else's
// requests, and the server starts again after them.

import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { suiteApp } from "../support/app.ts";
import { toFrame, toFrameOfText } from "../support/frames.ts";
import { sized } from "../support/sized.ts";

const test = suiteApp();

interface Answer {
  readonly accepted: number;
  readonly faults: { readonly code: string; readonly message: string }[];
}

const packed = { "content-encoding": "gzip" };

/** Sends the body, and asks for something else again and again until it is answered. */
async function sendBeside(path: string, body: Buffer): Promise<{ answer: Answer; status: number; others: number }> {
  let isDone = false;
  let others = 0;
  const sent = test.post(path, gzipSync(body), packed).finally(() => {
    isDone = true;
  });
  while (!isDone) {
    const { status } = await test.get("/healthz");
    if (status === 200) others++;
    // As somebody who looks now and then, not as a load of its own.
    await sleep(5);
  }
  const { status, body: answer } = await sent;
  return { status, answer: answer as Answer, others };
}

it.each([
  ["frames", "/v1/xtrack", Buffer.from("\0\0\0\u0002{}".repeat(sized(150_000, 300_000)), "latin1")],
  ["lines", "/v1/trace-stream", Buffer.from("{}\n".repeat(sized(100_000, 200_000)))],
  ["lines that are no JSON", "/v1/trace-stream", Buffer.from("x\n".repeat(sized(100_000, 200_000)))],
])(
  "answers others while it refuses hundreds of thousands of %s, and bounds what it says of them",
  async (_, path, body) => {
    const { status, answer, others } = await sendBeside(path, body);
    expect(status).toBe(202);
    expect(answer.accepted).toBe(0);
    expect(answer.faults.length).toBeGreaterThan(900);
    expect(answer.faults.length).toBeLessThan(1100);
    expect(answer.faults.at(-1)?.code).toBe("faults_left_out");
    expect(others).toBeGreaterThan(10);
  },
);

it("stores at most a million lines of one body and counts the others in one fault", async () => {
  const { status, answer, others } = await sendBeside(
    "/v1/runs/many-lines/output?wrapper=w-lines&stream=stdout&offset=0",
    Buffer.from("\n".repeat(1_000_500)),
  );
  expect(status).toBe(202);
  expect(answer.accepted).toBe(1_000_000);
  expect(answer.faults.map(({ code }) => code)).toEqual(["too_many_items"]);
  expect(answer.faults[0]?.message).toContain("500 more lines");
  expect(others).toBeGreaterThan(10);
});

it("keeps the rows of a batch among which hundreds of thousands are none, and counts those in one fault", async () => {
  const span = '{"id":"s-good","name":"cirron.session","parent_id":null,"start_ns":1,"end_ns":9,"pid":1}';
  const zeros = `0,`.repeat(400_000);
  const batch = `{"schema_version":1,"batch_id":"zeros","created_ns":1,"spans":[${zeros}${span}],"marks":[],"snapshots":[]}`;
  const { status, others } = await sendBeside("/v1/traces?wait=1", Buffer.from(batch));
  expect(status).toBe(202);
  expect(others).toBeGreaterThan(3);
  const { body } = await test.get("/api/v1/faults?code=faults_left_out&limit=1000");
  expect(JSON.stringify(body)).toContain("399000 more were refused");
  expect((await test.get("/api/v1/runs/s-good")).status).toBe(200);
});

it("takes a batch whose process has more pids than a call has arguments", async () => {
  const spans = Array.from(
    { length: sized(130_000, 200_000) },
    (_, pid) =>
      `{"id":"p${pid}","name":"step","parent_id":${pid === 0 ? "null" : '"p0"'},"start_ns":1,"end_ns":9,"pid":${pid}}`,
  );
  const batch = `{"schema_version":1,"batch_id":"pids","created_ns":1,"spans":[${spans.join(",")}],"marks":[],"snapshots":[]}`;
  expect((await test.post("/v1/traces?wait=1", gzipSync(batch), packed)).status).toBe(202);
});

it("answers others while it takes one event with very many metrics", async () => {
  const metrics = Object.fromEntries(Array.from({ length: sized(40_000, 200_000) }, (_, at) => [`m${at}`, at]));
  const event = { type: "metric_batch", seq: 1, ts: 1_700_000_000_000_000, payload: { run_id: "wide", metrics } };
  const { answer, others } = await sendBeside("/v1/xtrack?wait=1", toFrame(event));
  expect(answer).toMatchObject({ accepted: 1, faults: [] });
  expect(others).toBeGreaterThan(3);
});

const numbers = Array.from({ length: sized(300_000, 1_000_000) }, (_, at) => at).join(", ");
const longText = "a line of text ".repeat(1 << 20);

it.each([
  [
    "a param that is a long list",
    "/v1/xtrack?wait=1",
    toFrameOfText(`{"v":1,"t":"param","m":{"seq":2,"ts":2},"p":{"run_id":"many","key":"k","value":[${numbers}]}}`),
  ],
  [
    "a span with a long list",
    "/v1/traces?wait=1",
    Buffer.from(
      `{"schema_version":1,"batch_id":"long-list","created_ns":1,"spans":[{"id":"long","name":"s","parent_id":null,"start_ns":1,"end_ns":9,"pid":1,"attrs":{"l":[${numbers}]}}],"marks":[],"snapshots":[]}`,
    ),
  ],
  [
    "a trace line with a long list",
    "/v1/trace-stream?wait=1",
    Buffer.from(
      `{"record_type":"pipeline_end","schema_version":1,"run_id":"long-line","summary":{"l":[${numbers}]}}\n`,
    ),
  ],
  [
    "a line of output of 15 MiB",
    "/v1/runs/long-output/output?wrapper=w&stream=stdout&offset=0&wait=1",
    Buffer.from(longText),
  ],
])("answers others while it takes %s", async (_, path, body) => {
  const { status, others } = await sendBeside(path, body);
  expect(status).toBe(202);
  expect(others).toBeGreaterThan(3);
});

it("starts again after all of that", async () => {
  await test.reopen();
  expect((await test.get("/api/v1/runs/wide")).status).toBe(200);
});
