// Trains a two-layer network on two interleaved spirals, in plain TypeScript, and traces it with Cirron: epochs, steps
// and their phases as scopes, loss and accuracy as marks, weights and gradients as snapshots.
//
//   node examples/training/train.ts [epochs]

import { batches, epochs, mark, markInt, profile, scope, shutdown, watch } from "#emit/cirron.ts";
import { createNetwork } from "./network.ts";
import { createSpirals, toBatches } from "./spirals.ts";

const epochCount = Number(process.argv[2] ?? 30);
const batchSize = 32;
const learningRate = 0.5;

profile({ attrs: { model: "mlp 2-32-1", dataset: "two spirals" } });

const data = scope("load", () => createSpirals(512, 7));
const network = createNetwork(2, 32, 7);
watch(network.parameters);

let step = 0;
for (const epoch of epochs(epochCount)) {
  let lossSum = 0;
  let correct = 0;
  for (const batch of batches(toBatches(data, batchSize, epoch))) {
    const outputs = scope("forward", () => network.forward(batch.inputs));
    const loss = network.loss(outputs, batch.labels);
    scope("backward", () => network.backward(batch.inputs, batch.labels));
    scope("optimizer_step", () => network.step(learningRate));
    mark("loss", loss, { step });
    lossSum += loss * batch.labels.length;
    correct += network.countCorrect(outputs, batch.labels);
    step++;
  }
  mark("epoch_loss", lossSum / data.labels.length, { epoch }, "summary");
  mark("accuracy", correct / data.labels.length, { epoch }, "summary");
  markInt("correct", correct, { epoch }, "summary");
  if (epoch % 10 === 0 || epoch === epochCount - 1) {
    console.log(
      `epoch ${epoch}: loss ${(lossSum / data.labels.length).toFixed(4)}, accuracy ${correct / data.labels.length}`,
    );
  }
}

await shutdown();
