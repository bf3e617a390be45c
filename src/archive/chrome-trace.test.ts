import { describe, expect, it } from "vitest";
import type { TraceSlice } from "#store/reader/export-tables.ts";
import { ChromeTrace } from "./chrome-trace.ts";

const slice = (name: string, start: bigint, end: bigint, more: Partial<TraceSlice> = {}): TraceSlice => ({
  kind: "span",
  id: name,
  name,
  rank: 0,
  thread: "7",
  start_ns: (1_700_000_000_000_000_000n + start).toString(),
  end_ns: (1_700_000_000_000_000_000n + end).toString(),
  cpu_ns: null,
  gpu_ns: null,
  gpu_within: false,
  index: null,
  attrs: "",
  ...more,
});

function write(slices: readonly TraceSlice[]) {
  const trace = new ChromeTrace();
  const text = trace.begin("r") + slices.map((one) => trace.add(one)).join("") + trace.end();
  return JSON.parse(text) as { traceEvents: Record<string, unknown>[]; startTimeNs: string };
}

describe("ChromeTrace", () => {
  it("keeps nanoseconds exactly, counted from the first span", () => {
    const { traceEvents, startTimeNs } = write([slice("a", 5n, 2006n), slice("b", 1006n, 1007n, { index: "3" })]);
    const slices = traceEvents.filter((event) => event["ph"] === "X");
    expect(slices.map(({ name, ts, dur }) => [name, ts, dur])).toEqual([
      ["a", 0, 2.001],
      ["b[3]", 1.001, 0.001],
    ]);
    expect(startTimeNs).toBe("1700000000000000005");
  });

  it("stays JSON when a client sends a negative GPU time or an end before the start", () => {
    const { traceEvents } = write([slice("a", 9n, 5n, { gpu_ns: "-1" })]);
    const durations = traceEvents.filter((event) => event["ph"] === "X").map(({ dur, args }) => [dur, args]);
    expect(durations).toEqual([
      [0, expect.objectContaining({ gpu_ns: -1 })],
      [0, expect.objectContaining({ gpu_ns: -1 })],
    ]);
  });

  it("puts what overlaps without nesting on a further track, and GPU time on its own", () => {
    const { traceEvents } = write([
      slice("a", 0n, 100n),
      slice("b", 50n, 150n, { gpu_ns: "400" }),
      slice("c", 200n, 300n, { gpu_ns: "20", gpu_within: true }),
      slice("n", 0n, 10n, { kind: "node", thread: "" }),
    ]);
    const of = (category: string) =>
      traceEvents.filter((event) => event["cat"] === category).map(({ name, pid, tid, dur }) => [name, pid, tid, dur]);
    expect(of("span")).toEqual([
      ["a", 0, 1, 0.1],
      ["b", 0, 2, 0.1],
      ["c", 0, 1, 0.1],
    ]);
    expect(of("gpu")).toEqual([["b", 0, 3, 0.1]]);
    expect(of("node")).toEqual([["n", 1_000_000, 1, 0.01]]);
    const names = traceEvents.filter((event) => event["ph"] === "M").map(({ args }) => (args as { name: string }).name);
    expect(names).toEqual(["rank 0", "thread 7", "thread 7 (2)", "GPU of thread 7", "pipeline", "nodes"]);
  });

  it("is a trace also without spans", () => {
    expect(write([]).traceEvents).toEqual([]);
  });
});
