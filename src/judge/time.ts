// What limits a step: its data, its computing, or nothing measured; and what saving costs.

import type { RunEvidence, SpanTime } from "./evidence.ts";
import { type Finding, ofWholeRun } from "./finding.ts";
import { computingOf, dataSpans, saveSpans } from "./names.ts";
import { sayCount, sayShare, sayTime } from "./words.ts";

const stepsMin = 20;
const inputShareMin = 0.3;
const computeShareMin = 0.6;
const idleShareMax = 0.4;
const saveShareMin = 0.05;
const gpuSamplesMin = 30;

interface Shares {
  readonly data: number;
  readonly compute: number;
  /** The share of the time between steps in which the GPU was busy; null if not measured. */
  readonly gpu: number | null;
  readonly evidence: readonly string[];
}

export function judgeTime(evidence: RunEvidence): Finding[] {
  const shares = toShares(evidence);
  const bound = shares === null ? judgeTimings(evidence) : (judgeInput(shares) ?? judgeCompute(shares));
  const idle = judgeIdle(evidence, shares, bound);
  return [bound, idle, judgeSaving(evidence)].filter((finding) => finding !== null);
}

/** The share of each kind of span in the time between two steps, by medians: a slow first step changes nothing. */
function toShares({ steps, spans }: RunEvidence): Shares | null {
  if (steps === null || steps.count < stepsMin || !(steps.cycleNs > 0)) return null;
  const byName = new Map(spans.map((span) => [span.name, span]));
  const shareOf = (span: SpanTime) => (span.medianNs * span.count) / steps.count / steps.cycleNs;
  const data = spans.filter(({ name }) => new RegExp(dataSpans).test(name));
  const compute = computingOf(new Set(byName.keys())).map((name) => byName.get(name) as SpanTime);
  const measured = compute.filter(({ gpuNs, wallNs }) => gpuNs !== null && wallNs > 0);
  if (data.length + compute.length === 0) return null;
  const sum = (list: readonly SpanTime[]) => list.reduce((total, span) => total + shareOf(span), 0);
  return {
    data: Math.min(1, sum(data)),
    compute: Math.min(1, sum(compute)),
    gpu:
      measured.length === 0
        ? null
        : measured.reduce(
            (total, span) => total + shareOf(span) * Math.min(1, (span.gpuNs as number) / span.wallNs),
            0,
          ),
    evidence: [
      `${sayTime(steps.cycleNs)} from one step to the next, the median of ${sayCount(steps.count, "step")}`,
      ...[...data, ...compute].map((span) => `${span.name} ${sayTime(span.medianNs)} (${sayShare(shareOf(span))})`),
    ],
  };
}

const nextForInput = "Add loader workers, prefetch, pin memory, or move decoding out of the loop.";

function judgeInput({ data, evidence, gpu }: Shares): Finding | null {
  if (data < inputShareMin) return null;
  return {
    code: "input_bound",
    severity: "warn",
    confidence: data >= 0.5 || (gpu !== null && gpu < idleShareMax) ? "high" : "medium",
    text: `Input-bound: waiting for data is ${sayShare(data)} of the step.`,
    evidence,
    next: nextForInput,
    ...ofWholeRun,
  };
}

/** From times that the client logs as metrics. */
function judgeTimings({ timings }: RunEvidence): Finding | null {
  if (timings === null || timings.points < stepsMin || timings.dataShare < inputShareMin || timings.dataShare > 1)
    return null;
  return {
    code: "input_bound",
    severity: "warn",
    confidence: timings.dataShare >= 0.5 ? "high" : "medium",
    text: `Input-bound: waiting for data is ${sayShare(timings.dataShare)} of the step.`,
    evidence: [
      `the mean of ${timings.dataKey} against that of ${timings.stepKey}, of ${sayCount(timings.points, "point")}`,
    ],
    next: nextForInput,
    at: null,
    metric: timings.dataKey,
    view: "charts",
  };
}

function judgeCompute({ compute, gpu, evidence }: Shares): Finding | null {
  if (compute < computeShareMin || (gpu !== null && gpu < idleShareMax)) return null;
  return {
    code: "compute_bound",
    severity: "info",
    confidence: gpu === null ? "medium" : "high",
    text: `Compute-bound: computing is ${sayShare(compute)} of the step${gpu === null ? "" : `, the GPU is busy for ${sayShare(gpu)}`}.`,
    evidence,
    next: "Only faster computing helps: lower precision, a compiled model, fused kernels, a larger batch.",
    ...ofWholeRun,
  };
}

function judgeIdle({ gpuUse }: RunEvidence, shares: Shares | null, bound: Finding | null): Finding | null {
  if (shares !== null && shares.gpu !== null && shares.gpu < idleShareMax && bound?.code !== "input_bound") {
    return {
      ...ofWholeRun,
      code: "gpu_idle",
      severity: "warn",
      confidence: "high",
      text: `The GPU is idle for ${sayShare(1 - shares.gpu)} of the time between two steps.`,
      evidence: [...shares.evidence, `GPU time measured inside these spans is ${sayShare(shares.gpu)} of it`],
      next: "Look for waiting in the step: values read back to the CPU, small kernels, logging in every step.",
    };
  }
  if (gpuUse === null || gpuUse.samples < gpuSamplesMin || gpuUse.meanPercent >= idleShareMax * 100) return null;
  return {
    ...ofWholeRun,
    code: "gpu_idle",
    severity: "warn",
    confidence: gpuUse.meanPercent < 15 ? "high" : "medium",
    text: `The GPU is busy for ${Math.round(gpuUse.meanPercent)} % of the time only.`,
    evidence: [`the mean of ${sayCount(gpuUse.samples, "sample")} of its utilisation`],
    next: "Record spans to see what the step waits for: data, the CPU, or other ranks.",
    view: "charts",
  };
}

function judgeSaving({ steps, spans }: RunEvidence): Finding | null {
  const saving = spans.filter(({ name }) => new RegExp(saveSpans, "i").test(name));
  const longest = saving.toSorted((a, b) => b.wallNs - a.wallNs)[0];
  if (steps === null || longest === undefined || steps.count < stepsMin || !(steps.totalNs > 0)) return null;
  const share = longest.wallNs / steps.totalNs;
  if (share < saveShareMin || longest.count < 2) return null;
  return {
    code: "checkpointing",
    severity: "warn",
    confidence: longest.count >= 4 ? "high" : "medium",
    text: `Checkpointing takes ${sayShare(share)} of the time.`,
    evidence: [
      `${sayCount(longest.count, "span")} ${longest.name} of ${sayTime(longest.medianNs)}, ${sayTime(longest.wallNs)} in all`,
    ],
    next: "Save less often, save asynchronously, or to a faster disk.",
    ...ofWholeRun,
  };
}
