// A training that can be steered while it runs: pause it, resume it, change its learning rate, ask for a checkpoint,
// stop it. It reports over XTrack.
//
//   node examples/steerable-job/job.ts [steps] [milliseconds per step]

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startRun } from "#emit/xtrack.ts";
import { createNetwork } from "../training/network.ts";
import { createSpirals, toBatches } from "../training/spirals.ts";

const stepCount = Number(process.argv[2] ?? 6000);
const stepMs = Number(process.argv[3] ?? 50);
const batchSize = 16;
const checkpointEvery = 500;

const job = { learningRate: 0.02, isPaused: false, isStopped: false, wantsCheckpoint: false };
const run = startRun({
  name: "steerable spirals",
  experiment: "examples",
  tags: { example: "steerable-job" },
  params: { steps: stepCount, batch_size: batchSize, optimizer: { type: "momentum", lr: job.learningRate } },
});

run.on("pause", () => {
  job.isPaused = true;
});
run.on("resume", () => {
  job.isPaused = false;
});
run.on("stop", () => {
  job.isStopped = true;
});
// Who started it with a channel, as the demo does, takes it along, however that one ended itself.
process.once("disconnect", () => {
  job.isStopped = true;
});
process.channel?.unref();
run.on("checkpoint_now", () => {
  job.wantsCheckpoint = true;
});
run.on("adjust_lr", ({ payload }) => {
  const { lr } = payload;
  if (typeof lr !== "number" || !(lr > 0 && lr < 10)) throw new RangeError("lr must be a number between 0 and 10");
  job.learningRate = lr;
  run.log("info", `learning rate is now ${lr}`, { logger: "control" });
});

const data = createSpirals(256, 3);
const network = createNetwork(2, 24, 3);
const folder = await mkdtemp(join(tmpdir(), "steerable-job-"));
let bestLoss = Number.POSITIVE_INFINITY;

async function saveCheckpoint(step: number, loss: number): Promise<void> {
  run.status("checkpointing");
  const path = join(folder, `step-${step}.json`);
  const weights = Object.entries(network.parameters).map(([name, { data: values }]) => [name, [...values]]);
  await writeFile(path, JSON.stringify(Object.fromEntries(weights)));
  run.checkpoint({ step, path, metrics: { loss }, isBest: loss < bestLoss, bestKey: "loss" });
  void run.artifact(path, { type: "checkpoint", name: `step ${step}` });
  bestLoss = Math.min(bestLoss, loss);
  run.status("training");
}

async function waitWhilePaused(step: number): Promise<void> {
  if (!job.isPaused) return;
  run.status("paused", { msg: `at step ${step}`, progress: { cur: step, total: stepCount, unit: "steps" } });
  while (job.isPaused && !job.isStopped) await sleep(20);
  run.status("resuming");
}

run.status("training");
let loss = Number.NaN;
let step = 0;
for (let epoch = 0; step < stepCount && !job.isStopped; epoch++) {
  for (const batch of toBatches(data, batchSize, epoch)) {
    await waitWhilePaused(step);
    if (job.isStopped || step === stepCount) break;
    const outputs = network.forward(batch.inputs);
    loss = network.loss(outputs, batch.labels);
    network.backward(batch.inputs, batch.labels);
    network.step(job.learningRate);
    const accuracy = network.countCorrect(outputs, batch.labels) / batch.labels.length;
    run.metricBatch({ loss, accuracy, lr: job.learningRate }, { step, epoch, phase: "train", batchSize });
    step++;
    if (job.wantsCheckpoint || step % checkpointEvery === 0) {
      job.wantsCheckpoint = false;
      await saveCheckpoint(step, loss);
    }
    await sleep(stepMs);
  }
  run.status("training", { progress: { cur: step, total: stepCount, unit: "steps" } });
  run.log("info", `epoch ${epoch} done, loss ${loss.toFixed(4)}`, { logger: "train" });
}

run.status("finishing");
await run.end({ status: job.isStopped ? "killed" : "completed", finalMetrics: { loss, steps: step } });
await rm(folder, { recursive: true, force: true });
console.log(`${job.isStopped ? "stopped" : "done"} after ${step} steps, loss ${loss.toFixed(4)}`);
