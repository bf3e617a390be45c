// The frames of a job that logs one metric, made so that they cost the client little: every number has its digits from
// the first frame on, and only these are written anew.

/** Sequence numbers and steps begin here, so that they never get longer. */
export const firstNumber = 1_000_000;

export function toFrame(type: string, seq: number, payload: object): Buffer {
  const m = { seq, ts: Date.now() * 1000, wid: "w" };
  const text = Buffer.from(JSON.stringify({ v: 1, t: type, m, p: payload }));
  const head = Buffer.alloc(4);
  head.writeUInt32BE(text.length);
  return Buffer.concat([head, text]);
}

/** Gives a job's frames: `next(step, tsUs)` is the metric of that step, the step-th after the first. */
export function createMetricFrames(run: string): (step: number, tsUs: number) => Buffer {
  const template = toFrame("metric", firstNumber, { run_id: run, key: "loss", value: 0.1000001, step: firstNumber });
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
