import { expect, test } from "vitest";
import type { LiveEvent } from "#api/contract/live.ts";
import { createLiveTail } from "./live-tail.ts";

function event(id: string, step: string, value: number | "NaN"): LiveEvent<"metrics"> {
  return {
    name: "metrics",
    id,
    data: {
      run: "r",
      key: ["loss"],
      phase: ["train"],
      worker: ["w0"],
      step: [step],
      epoch: [null],
      ts_ns: ["1794710577346193100"],
      value: [value],
    },
  };
}

test("gives only points that the answer does not hold yet", () => {
  const tail = createLiveTail("1794710577346193000");
  tail.push(event("c-10", "1", 3));
  tail.push(event("c-11", "2", "NaN"));
  expect(tail.points("loss", "train", null, "step", "c-10")).toEqual([{ x: 2, t: 100, value: Number.NaN }]);
  expect(tail.points("loss", "train", "w0", "relative", "c-9").map((point) => point.x)).toEqual([100, 100]);
  expect(tail.points("loss", "val", null, "step", "c-9")).toEqual([]);
  expect(tail.points("loss", "train", "w1", "step", "c-9")).toEqual([]);
});
