import { expect, test } from "vitest";
import type { LiveEvent } from "#api/contract/live.ts";
import { createLiveTail, tailMax, tailsMax } from "./live-tail.ts";

function event(id: string, step: string, value: number | "NaN", worker = "w0"): LiveEvent<"metrics"> {
  return {
    name: "metrics",
    id,
    data: {
      run: "r",
      key: ["loss"],
      phase: ["train"],
      worker: [worker],
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
  expect(tail.points("loss", "train", null, "step", "c-10")).toEqual([{ x: 2, t: 100, value: Number.NaN, count: 1 }]);
  expect(tail.points("loss", "train", "w0", "relative", "c-9").map((point) => point.x)).toEqual([100, 100]);
  expect(tail.points("loss", "val", null, "step", "c-9")).toEqual([]);
  expect(tail.points("loss", "train", "w1", "step", "c-9")).toEqual([]);
});

test("holds few points of a busy series: no stretch of it is missing, no extreme is lost, and all are counted", () => {
  const tail = createLiveTail("1794710577346193000");
  const total = tailMax * 10;
  const valueAt = (step: number): number | "NaN" =>
    step === 777 ? 99 : step === 3333 ? -99 : step === 4444 ? "NaN" : step % 7;
  for (let step = 0; step < total; step++) tail.push(event(`c-${step}`, String(step), valueAt(step)));
  tail.push(event("c-0", "5", 1, "w1"));
  const points = tail.points("loss", "train", "w0", "step", "");
  expect(points.length).toBeLessThanOrEqual(tailMax);
  expect(points.reduce((sum, { count }) => sum + count, 0)).toBe(total);
  const steps = points.map(({ x }) => x as number);
  expect(steps).toEqual([...steps].sort((a, b) => a - b));
  const gaps = steps.map((step, at) => step - (steps[at - 1] ?? 0));
  expect(Math.max(...gaps)).toBeLessThan(total / 100);
  expect(steps.at(-1)).toBeGreaterThan(total - 10);
  expect(points.find(({ x }) => x === 777)?.value).toBe(99);
  expect(points.find(({ x }) => x === 3333)?.value).toBe(-99);
  expect(points.find(({ x }) => x === 4444)?.value).toBeNaN();
  expect(tail.points("loss", "train", "w1", "step", "")).toHaveLength(1);
});

test("stays bounded where no value is a number", () => {
  const tail = createLiveTail("1794710577346193000");
  for (let step = 0; step < tailMax * 3; step++) tail.push(event(`c-${step}`, String(step), "NaN"));
  const points = tail.points("loss", "train", null, "step", "");
  expect(points.length).toBeLessThanOrEqual(tailMax);
  expect(points.at(-1)?.x).toBe(tailMax * 3 - 1);
});

test("holds few points of many series together, and each of them whole", () => {
  const tail = createLiveTail("1794710577346193000");
  const { data, ...rest } = event("c-0", "0", 1);
  const keys = Array.from({ length: 1_000 }, (_, i) => `metric ${i}`);
  const all = <T>(value: T): T[] => keys.map(() => value);
  const total = 500;
  for (let step = 0; step < total; step++) {
    const columns = { phase: all("train"), worker: all("w0"), step: all(String(step)), epoch: all(null) };
    tail.push({ ...rest, data: { ...data, ...columns, key: keys, ts_ns: all(data.ts_ns[0] ?? ""), value: all(step) } });
  }
  const series = keys.map((key) => tail.points(key, "train", null, "step", ""));
  // A few of each wait to be thinned.
  expect(series.reduce((sum, points) => sum + points.length, 0)).toBeLessThan(tailsMax * 1.01);
  for (const points of series) {
    expect(points.length).toBeGreaterThan(100);
    expect(points[0]?.x).toBe(0);
    expect(points.at(-1)?.x).toBe(total - 1);
    expect(points.reduce((sum, { count }) => sum + count, 0)).toBe(total);
  }
});
