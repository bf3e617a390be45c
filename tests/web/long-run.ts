// A long run with one bad step, and a run of awkward numbers.

import type { TestApp } from "../support/app.ts";
import { sendXtrack, toFrames } from "./sample.ts";

export const spikeStep = 12_270;
export const longSteps = 20_000;
const startMs = 1_794_000_000_000;

/** 20,000 steps, two milliseconds apart, with quiet noise and a single spike in both metrics; a line every 40 steps. */
export async function sendLongRun(server: TestApp, id: string): Promise<void> {
  const events: [string, object][] = [["run_start", { run_id: { id }, name: "a long run" }]];
  const ctx = { phase: "train" };
  for (let step = 1; step <= longSteps; step++) {
    const bad = step === spikeStep;
    const loss = bad ? 6.7 : 0.68 + 0.02 * Math.sin(step);
    const norm = bad ? 9.5 : 0.5 + 0.1 * Math.cos(step * 3);
    events.push(["metric", { run_id: id, key: "loss", value: loss, step, ctx }]);
    events.push(["metric", { run_id: id, key: "grad_norm", value: norm, step, ctx }]);
    if (step % 40 === 0) events.push(["log", { run_id: id, level: "info", msg: `step ${step} done`, step }]);
  }
  events.push(["run_end", { run_id: id, status: "completed" }]);
  const frames = 10_000;
  for (let at = 0; at < events.length; at += frames) {
    await sendXtrack(server, toFrames(events.slice(at, at + frames), startMs + at, "w0", at + 1));
  }
}

/** The long run goes on. */
export async function sendMore(server: TestApp, id: string, steps: number): Promise<void> {
  const events = Array.from({ length: steps }, (_, at): [string, object] => {
    const step = longSteps + 1 + at;
    return ["metric", { run_id: id, key: "loss", value: 0.68 + 0.02 * Math.sin(step), step, ctx: { phase: "train" } }];
  });
  await sendXtrack(server, toFrames(events, startMs + 3 * longSteps, "w0", 3 * longSteps));
}

export const longName = "train/encoder.layers.11.self_attn.q_proj.weight/grad_norm";

/** NaN only, nothing above zero, very close together, beyond what axes are made for, and a name that does not fit. */
export async function sendAwkward(server: TestApp, id: string): Promise<void> {
  const events: [string, object][] = [["run_start", { run_id: { id }, name: "awkward" }]];
  for (let step = 1; step <= 500; step++) {
    const values = {
      only_nan: "$NaN",
      below_zero: -step,
      outlier: step === 250 ? 1000 : 1 + Math.sin(step),
      close: 102.65 + 0.02 * Math.sin(step),
      huge: 1e300 + step * 1e298,
      [longName]: step * -1.23456e-6,
    };
    for (const [key, value] of Object.entries(values)) events.push(["metric", { run_id: id, key, value, step }]);
  }
  // A point without a step, two seconds after the start.
  for (let i = 0; i < 3; i++) events.push(["metric", { run_id: id, key: "without_step", value: i }]);
  events.push(["run_end", { run_id: id, status: "completed" }]);
  await sendXtrack(server, toFrames(events, startMs, "w0"));
}

/** Values further apart than a number can say. */
export async function sendWidest(server: TestApp, id: string): Promise<void> {
  const events = [1, -1, 1].map((sign, step): [string, object] => [
    "metric",
    { run_id: id, key: "widest", value: sign * Number.MAX_VALUE, step },
  ]);
  await sendXtrack(server, toFrames([["run_start", { run_id: { id }, name: id }], ...events], startMs, "w0"));
}
