import { describe, expect, test } from "vitest";
import type { EvidenceSeries, RunEvidence, SpanTime } from "./evidence.ts";
import { judgeRun } from "./judge-run.ts";
import { findStraggler } from "./straggler.ts";

const nothing: RunEvidence = {
  params: {},
  nonfinite: [],
  losses: [],
  learningRates: [],
  firstBadTensor: null,
  steps: null,
  spans: [],
  timings: null,
  windows: [],
  gpuUse: null,
  missing: [],
  faults: 0,
};

/** A small generator, so that noise is the same every time. */
function noise(seed = 7): () => number {
  let state = seed;
  return () => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return state / 2147483648 - 0.5;
  };
}

function series(key: string, values: readonly number[]): EvidenceSeries {
  const places = (at: number) => ({ step: BigInt(at), tsNs: BigInt(at) * 1_000_000_000n });
  return { key, phase: "", values: Float64Array.from(values), places };
}

function curve(length: number, valueAt: (step: number) => number): number[] {
  return Array.from({ length }, (_, step) => valueAt(step));
}

const codes = (evidence: Partial<RunEvidence>) => judgeRun({ ...nothing, ...evidence }).map(({ code }) => code);
const first = (evidence: Partial<RunEvidence>) => judgeRun({ ...nothing, ...evidence })[0];

test("nothing is said of a run of which nothing is known", () => {
  expect(judgeRun(nothing)).toEqual([]);
});

test("where a loss diverges is told in its own steps, also behind points that are not finite", () => {
  const values = curve(1000, (step) => (step < 500 ? 2 - step / 500 : 1 + (step - 500) / 100));
  const withNaN = values.map((value, step) => (step >= 100 && step < 150 ? Number.NaN : value));
  const stepOf = (given: readonly number[]) =>
    judgeRun({ ...nothing, losses: [series("loss", given)] }).find(({ code }) => code === "diverging")?.at?.step;
  expect(Number(stepOf(withNaN))).toBeGreaterThan(500);
  expect(Math.abs(Number(stepOf(withNaN)) - Number(stepOf(values)))).toBeLessThan(25);
});

describe("values that are not finite", () => {
  const loss = {
    key: "loss",
    phase: "train",
    count: 1000,
    nonfinite: 188,
    first: { step: 812n, tsNs: 812n },
    lastFiniteNs: 811n,
  };

  test("a loss that never recovers is named with its step, its tensor and the learning rate", () => {
    const found = first({
      nonfinite: [{ ...loss, key: "grad_norm", first: { step: 811n, tsNs: 811n } }, loss],
      firstBadTensor: { tensor: "h.3.attn.weight", step: 810n, tsNs: 810n },
      params: { "optimizer.lr": "0.1" },
    });
    expect(found).toMatchObject({ code: "nonfinite", severity: "bad", confidence: "high", view: "tensors" });
    expect(found?.text).toBe("loss (train) is not finite from step 812 on; first in the tensor h.3.attn.weight.");
    expect(found?.evidence).toContain("also not finite: grad_norm (train)");
    expect(found?.next).toContain("it is 0.1");
  });

  test("one that recovered is a warning, and one point at the very end is not certain", () => {
    expect(first({ nonfinite: [{ ...loss, lastFiniteNs: 999n }] })).toMatchObject({ severity: "warn" });
    expect(first({ nonfinite: [{ ...loss, nonfinite: 1 }] })).toMatchObject({ severity: "bad", confidence: "medium" });
  });
});

describe("a loss", () => {
  const rand = noise();
  const falling = curve(400, (step) => 4 * Math.exp(-step / 100) + 1 + 0.2 * rand());

  test("that falls, is flat or has one spike is not diverging", () => {
    expect(codes({ losses: [series("loss", falling)] })).toEqual([]);
    expect(
      codes({
        losses: [
          series(
            "loss",
            curve(400, () => 2 + 0.5 * rand()),
          ),
        ],
      }),
    ).toEqual([]);
    const spike = falling.map((value, step) => (step > 200 && step < 205 ? 40 : value));
    expect(codes({ losses: [series("loss", spike)] })).toEqual([]);
  });

  test("that starts high and falls only after a rise is not diverging", () => {
    const hill = curve(400, (step) => (step < 40 ? 4.8 + step / 15 : 2.5 + 4 * Math.exp(-(step - 40) / 50)));
    expect(codes({ losses: [series("loss", hill)] })).toEqual([]);
  });

  test("that leaves its best for good is diverging, from the step where it did", () => {
    const turned = falling.map((value, step) => (step < 250 ? value : value + (step - 250) * 0.05));
    const found = first({ losses: [series("loss", turned)] });
    expect(found).toMatchObject({ code: "diverging", severity: "bad", confidence: "high" });
    expect(Number(found?.at?.step)).toBeGreaterThan(250);
    expect(Number(found?.at?.step)).toBeLessThan(320);
  });

  test("of few points is not judged", () => {
    expect(
      codes({
        losses: [
          series(
            "loss",
            curve(30, (step) => 1 + step),
          ),
        ],
      }),
    ).toEqual([]);
  });

  test("that turns at the peak of a warm-up blames the rate; a constant rate is not blamed", () => {
    const turned = falling.map((value, step) => (step < 120 ? value : value + (step - 120) * 0.05));
    const warm = series(
      "lr",
      curve(400, (step) => Math.min(1, step / 100) * 0.01),
    );
    expect(codes({ losses: [series("loss", turned)], learningRates: [warm] })).toEqual(["diverging", "rate_too_high"]);
    const constant = series(
      "lr",
      curve(400, () => 0.01),
    );
    expect(codes({ losses: [series("loss", turned)], learningRates: [constant] })).toEqual(["diverging"]);
  });
});

describe("time", () => {
  const steps = { count: 500, stepNs: 9e6, cycleNs: 10e6, totalNs: 5e9 };
  const span = (name: string, medianMs: number, more: Partial<SpanTime> = {}): SpanTime => ({
    name,
    count: 500,
    wallNs: medianMs * 1e6 * 500,
    medianNs: medianMs * 1e6,
    gpuNs: null,
    ...more,
  });

  test("a step that mostly waits for data is input-bound", () => {
    const found = first({ steps, spans: [span("data_load", 6.4), span("forward", 1), span("backward", 2)] });
    expect(found).toMatchObject({ code: "input_bound", confidence: "high" });
    expect(found?.text).toBe("Input-bound: waiting for data is 64 % of the step.");
  });

  test("a step that computes is compute-bound, with the GPU's share where it was measured", () => {
    const gpu = [span("forward", 3, { gpuNs: 3e6 * 450 }), span("backward", 5, { gpuNs: 5e6 * 450 })];
    expect(first({ steps, spans: [span("data_load", 0.5), ...gpu] })).toMatchObject({
      code: "compute_bound",
      severity: "info",
      confidence: "high",
      text: "Compute-bound: computing is 80 % of the step, the GPU is busy for 72 %.",
    });
  });

  test("computing during which the GPU mostly waits is idleness, not computing", () => {
    const gpu = [span("forward", 3, { gpuNs: 3e6 * 50 }), span("backward", 5, { gpuNs: 5e6 * 50 })];
    expect(codes({ steps, spans: gpu })).toEqual(["gpu_idle"]);
  });

  test("few steps, and steps without known parts, are not judged", () => {
    expect(codes({ steps: { ...steps, count: 5 }, spans: [span("data_load", 9)] })).toEqual([]);
    expect(codes({ steps, spans: [span("something", 9)] })).toEqual([]);
  });

  test("data and step times that the client logs say the same", () => {
    const timings = { stepKey: "step_time", dataKey: "data_time", points: 100, dataShare: 0.41 };
    expect(first({ timings })).toMatchObject({ code: "input_bound", confidence: "medium" });
    expect(codes({ timings: { ...timings, points: 5 } })).toEqual([]);
    expect(codes({ timings: { ...timings, dataShare: 0.1 } })).toEqual([]);
  });

  test("checkpoints that take more than a twentieth of the time are named", () => {
    const found = first({ steps, spans: [span("save_checkpoint", 110, { count: 5, wallNs: 0.55e9 })] });
    expect(found).toMatchObject({ code: "checkpointing", text: "Checkpointing takes 11 % of the time." });
    expect(codes({ steps, spans: [span("save_checkpoint", 20, { count: 5, wallNs: 0.1e9 })] })).toEqual([]);
  });

  test("a GPU that samples show idle is said to be, of enough samples", () => {
    expect(codes({ gpuUse: { samples: 60, meanPercent: 12 } })).toEqual(["gpu_idle"]);
    expect(codes({ gpuUse: { samples: 60, meanPercent: 85 } })).toEqual([]);
    expect(codes({ gpuUse: { samples: 3, meanPercent: 0 } })).toEqual([]);
  });
});

describe("ranks", () => {
  const windows = (factorOf: (worker: number, window: number) => number) =>
    curve(4 * 20, (at) => at).map((at) => {
      const worker = at % 4;
      const window = Math.floor(at / 4);
      return { worker: String(worker), window, steps: 10, meanNs: 1e7 * factorOf(worker, window) };
    });

  test("the one that is slower nearly always is the straggler", () => {
    const found = first({ windows: windows((worker, window) => (worker === 3 && window !== 7 ? 1.6 : 1)) });
    expect(found).toMatchObject({ code: "straggler", confidence: "high" });
    expect(found?.text).toBe("Rank 3 is a straggler: 1.6 times as long as the others for a step.");
    expect(found?.evidence[1]).toBe("slower in 19 of 20 windows (95 %)");
  });

  test("each is measured by the median of the others, also where they are two or three", () => {
    const meanOf = { a: 4, b: 1, c: 2, d: 7 };
    const own = (workers: readonly (keyof typeof meanOf)[]) =>
      curve(6 * workers.length, (at) => at).map((at) => {
        const worker = workers[at % workers.length] as keyof typeof meanOf;
        return { worker, window: Math.floor(at / workers.length), steps: 10, meanNs: meanOf[worker] };
      });
    const measured = (workers: readonly (keyof typeof meanOf)[]) => {
      const found = findStraggler(own(workers), { factor: 1, share: 0.5, windowsMin: 1 });
      return [found?.worker, found?.othersNs];
    };
    expect(measured(["b", "d"])).toEqual(["d", 1]);
    expect(measured(["d", "b", "c"])).toEqual(["d", 1.5]);
    expect(measured(["a", "b", "c", "d"])).toEqual(["d", 2]);
  });

  test("one slow stretch, small differences and a single rank are no straggler", () => {
    expect(codes({ windows: windows((worker, window) => (worker === 3 && window < 8 ? 3 : 1)) })).toEqual([]);
    expect(codes({ windows: windows((worker) => 1 + worker * 0.05) })).toEqual([]);
    expect(codes({ windows: windows(() => 1).filter(({ worker }) => worker === "0") })).toEqual([]);
  });
});

test("records that are missing are told with their worker and the first gap", () => {
  const found = first({ missing: [{ worker: "w0", missing: 12, firstGap: "5–16" }], faults: 1 });
  expect(found?.text).toBe("12 records are missing, one record could not be understood.");
  expect(found?.evidence).toEqual(["worker w0: 12 records, the first gap is 5–16"]);
});

test("the worst comes first", () => {
  const spans = [{ name: "forward", count: 500, wallNs: 4e9, medianNs: 8e6, gpuNs: null }];
  const steps = { count: 500, stepNs: 9e6, cycleNs: 10e6, totalNs: 5e9 };
  const nonfinite = [
    { key: "loss", phase: "", count: 9, nonfinite: 5, first: { step: 4n, tsNs: 4n }, lastFiniteNs: 3n },
  ];
  expect(codes({ spans, steps, nonfinite, faults: 2 })).toEqual(["nonfinite", "gaps", "compute_bound"]);
});
