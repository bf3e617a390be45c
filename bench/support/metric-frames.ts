// The frames of a job that logs one metric, made so that they cost the client little: every number has its digits from
// the first frame on, and only these are rewritten.

import { toEvent } from "./xtrack-socket.ts";

/** Sequence numbers and steps begin here, so that they never get longer. */
export const firstNumber = 1_000_000;

/** Gives a job's frames: `next(step, tsUs)` is the metric of that step, the step-th after the first. */
export function createMetricFrames(run: string): (step: number, tsUs: number) => Buffer {
  const m = { seq: firstNumber, ts: Date.now() * 1000, wid: "w" };
  const template = toEvent("metric", m, { run_id: run, key: "loss", value: 0.1000001, step: firstNumber });
  const seqAt = template.indexOf('"seq":') + 6;
  const tsAt = template.indexOf('"ts":') + 5;
  const stepAt = template.indexOf('"step":') + 7;
  const valueAt = template.indexOf('"value":0.') + 10;
  return (step, tsUs) => {
    const frame = Buffer.from(template);
    const number = String(firstNumber + step);
    frame.write(number, seqAt, "latin1");
    frame.write(number, stepAt, "latin1");
    frame.write(number, valueAt, "latin1");
    frame.write(String(tsUs), tsAt, "latin1");
    return frame;
  };
}
