// The page says that its wire contract is all a collector needs. This sends what the page shows, field by field, and
// looks for it in the tables that the page says it ends in.

import { expect, test } from "vitest";
import { type DocumentBatch, newId, postBatch } from "../clients/cirron-document-client.ts";
import { suiteApp } from "../support/app.ts";
import { askStore } from "../support/ask-store.ts";

const walk = suiteApp();

const ids = { session: newId(), epoch: newId(), step: newId(), loss: newId(), note: newId(), weight: newId() };
const startNs = 1_794_710_396_768_536_383n;

function span(id: string, name: string, parent: string | null, index: number | null, marks: readonly string[]): string {
  const parentId = parent === null ? "null" : `"${parent}"`;
  const markIds = JSON.stringify(marks);
  return `{"id": "${id}", "name": "${name}", "parent_id": ${parentId}, "index": ${index}, "start_ns": ${startNs}, "end_ns": ${startNs + 10n},
    "cpu_ns": null, "gpu_ns": null, "memory_peak_bytes": null, "thread_id": 140000000, "pid": 12345, "rank": 0,
    "attrs": { "key": "value" }, "mark_ids": ${markIds}}`;
}

const histogram = {
  bins: Array.from({ length: 17 }, (_, i) => i / 2),
  counts: Array.from({ length: 16 }, (_, i) => i),
};
const stats = { mean: 0.5, std: 0.25, min: -1.5, max: 2.5, norm: 3.5, histogram };

const batch: DocumentBatch = {
  schema_version: 1,
  sdk_version: "0.2.0",
  batch_id: newId(),
  created_ns: String(startNs + 20n),
  spans: [
    span(ids.step, "step", ids.epoch, 7, [ids.loss]),
    span(ids.epoch, "epoch", ids.session, 0, []),
    span(ids.session, "cirron.session", null, null, [ids.note]),
  ],
  marks: [
    `{"id": "${ids.loss}", "span_id": "${ids.step}", "name": "loss", "value_type": "float", "value": 0.5, "attrs": { "step": 10 }, "ts_ns": ${startNs + 5n}, "kind": "point"}`,
    `{"id": "${ids.note}", "span_id": "${ids.session}", "name": "note", "value_type": "string", "value": "done", "attrs": {}, "ts_ns": ${startNs + 9n}, "kind": "summary"}`,
  ],
  snapshots: [
    `{"id": "${ids.weight}", "span_id": "${ids.epoch}", "tensor_name": "layer1.0.conv1.weight", "shape": [64, 3, 7, 7], "dtype": "float32", "mode": "stats",
      "stats": ${JSON.stringify(stats)}, "blob_uri": null, "ts_ns": ${startNs + 10n}, "attrs": {}}`,
  ],
};

async function rowsOf(view: string): Promise<Record<string, unknown>[]> {
  await walk.app.collector.drained();
  return askStore(walk.app.collector.store, { sql: `SELECT * FROM tributary_sql.${view} ORDER BY id` });
}

test("what the page shows is taken as the page says, and is found in the tables the page shows [CT-28] [CT-31] [CT-32] [CT-33]", async () => {
  const first = await postBatch(walk.app.url, "any-key", batch);
  expect([first.status, JSON.parse(first.body)]).toEqual([202, { batch_id: batch.batch_id }]);
  const spans = await rowsOf("TraceSpan");
  expect(spans).toHaveLength(3);
  const step = spans.find((row) => row["id"] === ids.step);
  expect(step).toEqual({
    id: ids.step,
    traceId: ids.session,
    parentSpanId: ids.epoch,
    name: "step",
    index: 7,
    attrs: '{"key":"value"}',
    startNs: String(startNs),
    endNs: String(startNs + 10n),
    cpuNs: null,
    gpuNs: null,
    memoryPeakBytes: null,
    threadId: "140000000",
    rank: 0,
    workspaceId: "default",
    pipelineId: null,
    runId: ids.session,
    deploymentId: null,
    modelId: null,
  });
  const marks = await rowsOf("TraceMark");
  expect(marks.find((row) => row["id"] === ids.loss)).toMatchObject({
    spanId: ids.step,
    valueFloat: 0.5,
    kind: "point",
  });
  expect(marks.find((row) => row["id"] === ids.note)).toMatchObject({ valueString: "done", kind: "summary" });
  const [snapshot] = await rowsOf("TraceSnapshot");
  expect(snapshot).toMatchObject({
    id: ids.weight,
    shape: "[64,3,7,7]",
    dtype: "float32",
    mode: "stats",
    blobUri: null,
  });
  expect(JSON.parse(snapshot?.["stats"] as string)).toEqual(stats);
});

test("sending a batch again after a timeout is safe, also twice at the same time [CT-29]", async () => {
  const answers = await Promise.all([1, 2, 3].map(() => postBatch(walk.app.url, "any-key", batch)));
  expect(answers.map(({ status }) => status)).toEqual([202, 202, 202]);
  const fresh = {
    ...batch,
    batch_id: newId(),
    spans: [span(newId(), "step", ids.epoch, 8, [])],
    marks: [],
    snapshots: [],
  };
  const twins = await Promise.all([1, 2].map(() => postBatch(walk.app.url, "any-key", fresh)));
  expect(twins.map(({ status }) => status)).toEqual([202, 202]);
  expect([(await rowsOf("TraceSpan")).length, (await rowsOf("TraceMark")).length]).toEqual([4, 2]);
});

test("a batch of another version is refused, and the reason names the version [CT-25]", async () => {
  const answer = await postBatch(walk.app.url, "any-key", { ...batch, batch_id: newId(), schema_version: 2 as 1 });
  expect(answer.status).toBe(400);
  expect(JSON.parse(answer.body)).toMatchObject({
    code: "cirron_schema_version",
    message: expect.stringContaining("found 2"),
  });
});
