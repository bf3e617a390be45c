// A program that records one of everything that a Cirron batch can hold, into the folder that it is given.

import {
  batches,
  epochs,
  inference,
  mark,
  markInt,
  profile,
  scope,
  shutdown,
  snapshot,
  watch,
} from "../../src/emit/cirron.ts";

const [, , path = ""] = process.argv;
profile({ path, snapshots: "full", rank: 2, runId: "golden", flushIntervalMs: 60_000 });
watch({ "layer.weight": { data: Float32Array.of(1, 2, 3, 4), shape: [2, 2], grad: Float32Array.of(0.5, 0, 0, 0) } });
mark("note", "ünï", { nested: { a: [1, null, true] } });
for (const _ of epochs(1)) {
  for (const batch of batches([10])) {
    scope("forward", (span) => span.setGpuNs(5), { index: 7, attrs: { mode: "train" } });
    mark("loss", 1, { step: batch });
    markInt("correct", 11, undefined, "summary");
    mark("ok", true);
  }
}
inference(() => ({ usage: { prompt_tokens: 1, completion_tokens: 2 } }))();
snapshot({ probe: Int8Array.of(-1, 1) });
await shutdown();
