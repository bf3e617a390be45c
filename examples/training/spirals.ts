// Two spirals, one per class: simple to make, and not separable by a line.

export interface Examples {
  /** x and y of each point, one after the other. */
  readonly inputs: Float64Array;
  /** 0 or 1. */
  readonly labels: Uint8Array;
}

export function createSpirals(count: number, seed: number): Examples {
  const random = createRandom(seed);
  const inputs = new Float64Array(count * 2);
  const labels = new Uint8Array(count);
  for (let i = 0; i < count; i++) {
    const label = i % 2;
    const turn = 0.25 + (i / count) * 1.5;
    const angle = turn * Math.PI * 2 * 0.75 + label * Math.PI;
    inputs[i * 2] = turn * Math.cos(angle) + 0.05 * (random() - 0.5);
    inputs[i * 2 + 1] = turn * Math.sin(angle) + 0.05 * (random() - 0.5);
    labels[i] = label;
  }
  return { inputs, labels };
}

/** Shuffled anew each epoch, but the same for the same epoch. */
export function* toBatches(data: Examples, batchSize: number, epoch: number): Generator<Examples> {
  const count = data.labels.length;
  const order = Uint32Array.from({ length: count }, (_, i) => i);
  const random = createRandom(epoch + 1);
  for (let i = count - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [order[i], order[j]] = [order[j] as number, order[i] as number];
  }
  for (let start = 0; start < count; start += batchSize) {
    const chosen = order.subarray(start, start + batchSize);
    const inputs = new Float64Array(chosen.length * 2);
    const labels = new Uint8Array(chosen.length);
    for (const [i, from] of chosen.entries()) {
      inputs[i * 2] = data.inputs[from * 2] as number;
      inputs[i * 2 + 1] = data.inputs[from * 2 + 1] as number;
      labels[i] = data.labels[from] as number;
    }
    yield { inputs, labels };
  }
}

/** A small generator of repeatable numbers in [0, 1) (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
