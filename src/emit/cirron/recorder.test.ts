import { expect, test } from "vitest";
import { Recorder } from "./recorder.ts";

test("counts the spans, marks and snapshots of a batch that cannot be written", () => {
  const recorder = new Recorder();
  const full = () => {
    throw new RangeError("Invalid string length");
  };
  recorder.setSink({ write: full }, 0);
  recorder.close(recorder.open("step", null));
  recorder.mark(null, "loss", 0.5);
  recorder.mark(null, "loss", 0.4);
  recorder.pushSnapshot("{}");
  recorder.flush();
  expect(recorder.counts).toMatchObject({ batches: 0, dropped: 4 });
});
