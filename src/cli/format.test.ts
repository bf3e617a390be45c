import { describe, expect, it } from "vitest";
import { formatChart, formatSparkline } from "./chart.ts";
import { formatAgo, formatBytes, formatCount, formatDuration, formatNumber } from "./format.ts";
import { cut, formatTable, measure } from "./table.ts";

describe("numbers and times for people", () => {
  it.each([
    [0n, "0ns"],
    [340_000n, "340µs"],
    [12_345_678n, "12.3ms"],
    [1_500_000_000n, "1.5s"],
    [59_940_000_000n, "59.9s"],
    [192_000_000_000n, "3m 12s"],
    [93_784_000_000_000n, "1d 2h"],
    [-1_000_000_000n, "-1s"],
  ])("writes %s ns as %s", (ns, text) => expect(formatDuration(String(ns))).toBe(text));

  it.each([
    [0.123456789, "0.12346"],
    [123456, "123456"],
    [1e-9, "1.000e-9"],
    [1e12, "1.000e+12"],
    [0, "0"],
    ["NaN", "NaN"],
    [null, "–"],
  ])("writes %s as %s", (value, text) => expect(formatNumber(value)).toBe(text));

  it("writes how long ago, and copes with clocks that differ", () => {
    const second = 1_000_000_000n;
    expect([formatAgo("0", 90n * second), formatAgo(`${5n * second}`, 0n), formatAgo("1", 1n)]).toEqual([
      "1m ago",
      "in 5s",
      "now",
    ]);
  });

  it("writes sizes and counts", () => {
    expect([formatBytes(12), formatBytes(1536)]).toEqual(["12 B", "1.5 KiB"]);
    expect([formatCount(1, "run"), formatCount(2000, "batch", "batches")]).toEqual(["1 run", "2,000 batches"]);
  });
});

describe("tables", () => {
  it("cut their widest column until they fit, and leave the others", () => {
    const columns = [{ title: "A" }, { title: "LONG" }];
    const text = formatTable(columns, [["x", "y".repeat(50)]], 20);
    expect(text.split("\n")).toEqual(["A  LONG", `x  ${"y".repeat(16)}…`]);
  });

  it("count wide characters as two, and cut between characters", () => {
    expect(measure("日本")).toBe(4);
    expect(cut("日本語", 5)).toBe("日本…");
    expect(cut("日本語", 4)).toBe("日…");
  });

  it("keep every row on one line, whatever is in a cell", () => {
    expect(formatTable([{ title: "A" }], [["a\nb\tc\u001b[1m"]], 80).split("\n")).toEqual(["A", "a b c [1m"]);
  });
});

describe("charts", () => {
  it("draw values by their height, and those that are none or not finite as such", () => {
    expect(formatSparkline([0, 1, 2, 3])).toBe("▁▃▆█");
    expect(formatSparkline([0, null, Number.NaN, 1])).toBe("▁ ×█");
    expect(formatSparkline([5, 5])).toBe("▅▅");
    expect(formatSparkline([Number.NaN])).toBe("×");
  });

  it("draw a falling line from the top left to the bottom right", () => {
    const values = [3, 2, 1, 0];
    const lines = formatChart(values, values, 2, 1);
    expect(lines[0]?.codePointAt(0)).toBe(0x2800 + 0x01 + 0x10);
    expect(lines[0]?.codePointAt(1)).toBe(0x2800 + 0x04 + 0x80);
  });
});
