// A network with one hidden layer: tanh inside, a sigmoid at the end, trained by gradient descent with momentum.

import { createRandom } from "./spirals.ts";

interface Parameter {
  readonly data: Float32Array;
  readonly shape: readonly number[];
  readonly grad: Float32Array;
  readonly velocity: Float32Array;
}

export interface Network {
  /** Named tensors with their gradients: what `watch()` records at the end of every epoch. */
  readonly parameters: Readonly<Record<string, Parameter>>;
  /** Probability of class 1 for each input. */
  forward(inputs: Float64Array): Float64Array;
  /** Mean cross-entropy. */
  loss(outputs: Float64Array, labels: Uint8Array): number;
  /** Gradients of the loss of the last `forward`. */
  backward(inputs: Float64Array, labels: Uint8Array): void;
  step(learningRate: number): void;
  countCorrect(outputs: Float64Array, labels: Uint8Array): number;
}

const momentum = 0.9;

function createParameter(shape: readonly number[], fill: () => number): Parameter {
  const size = shape.reduce((product, side) => product * side, 1);
  const data = Float32Array.from({ length: size }, fill);
  return { data, shape, grad: new Float32Array(size), velocity: new Float32Array(size) };
}

export function createNetwork(inputSize: number, hiddenSize: number, seed: number): Network {
  const random = createRandom(seed);
  const uniform = (limit: number) => () => (random() * 2 - 1) * limit;
  const w1 = createParameter([inputSize, hiddenSize], uniform(Math.sqrt(3)));
  const b1 = createParameter([hiddenSize], uniform(1));
  const w2 = createParameter([hiddenSize], uniform(1 / Math.sqrt(hiddenSize)));
  const b2 = createParameter([1], () => 0);
  const parameters = { "hidden.weight": w1, "hidden.bias": b1, "output.weight": w2, "output.bias": b2 };
  let hidden = new Float64Array(0);
  let outputs = new Float64Array(0);

  const forward = (inputs: Float64Array) => {
    const count = inputs.length / inputSize;
    hidden = new Float64Array(count * hiddenSize);
    outputs = new Float64Array(count);
    for (let n = 0; n < count; n++) {
      let sum = b2.data[0] as number;
      for (let h = 0; h < hiddenSize; h++) {
        let before = b1.data[h] as number;
        for (let i = 0; i < inputSize; i++)
          before += (inputs[n * inputSize + i] as number) * (w1.data[i * hiddenSize + h] as number);
        const value = Math.tanh(before);
        hidden[n * hiddenSize + h] = value;
        sum += value * (w2.data[h] as number);
      }
      outputs[n] = 1 / (1 + Math.exp(-sum));
    }
    return outputs;
  };

  const backward = (inputs: Float64Array, labels: Uint8Array) => {
    for (const { grad } of Object.values(parameters)) grad.fill(0);
    const count = labels.length;
    for (let n = 0; n < count; n++) {
      const error = ((outputs[n] as number) - (labels[n] as number)) / count;
      add(b2.grad, 0, error);
      for (let h = 0; h < hiddenSize; h++) {
        const value = hidden[n * hiddenSize + h] as number;
        add(w2.grad, h, error * value);
        const inner = error * (w2.data[h] as number) * (1 - value * value);
        add(b1.grad, h, inner);
        for (let i = 0; i < inputSize; i++)
          add(w1.grad, i * hiddenSize + h, inner * (inputs[n * inputSize + i] as number));
      }
    }
  };

  const step = (learningRate: number) => {
    for (const { data, grad, velocity } of Object.values(parameters)) {
      for (let i = 0; i < data.length; i++) {
        velocity[i] = momentum * (velocity[i] as number) - learningRate * (grad[i] as number);
        add(data, i, velocity[i] as number);
      }
    }
  };

  return { parameters, forward, backward, step, loss: crossEntropy, countCorrect };
}

function crossEntropy(outputs: Float64Array, labels: Uint8Array): number {
  let sum = 0;
  for (const [n, label] of labels.entries()) {
    const output = outputs[n] as number;
    sum -= Math.log(Math.max(1e-12, label === 1 ? output : 1 - output));
  }
  return sum / labels.length;
}

function countCorrect(outputs: Float64Array, labels: Uint8Array): number {
  let correct = 0;
  for (const [n, label] of labels.entries()) if ((outputs[n] as number) > 0.5 === (label === 1)) correct++;
  return correct;
}

function add(target: Float32Array, index: number, value: number): void {
  target[index] = (target[index] as number) + value;
}
